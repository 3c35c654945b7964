package recipe

import (
	"path/filepath"
	"slices"
	"strings"
)

// Door is where the proxy is, and the key that it accepts.
type Door struct {
	URL   string // without a path or a slash at its end, such as http://127.0.0.1:8485
	Token string
	Dir   string // a folder that only we can read, for as long as the program runs
}

// Start is how a program is started.
type Start struct {
	Program []string // with its arguments
	Env     []string // all of it, as os/exec takes it
}

// For says how to start a program, with its arguments and environment, so that it asks the proxy.
// The error says what prevents that, and what to do about it.
func For(program, environ []string, door Door) (Start, error) {
	at, row := find(program)
	set, err := row.variables(environ, door)
	if err != nil {
		return Start{}, err
	}
	args := slices.Clone(program)
	if row.args != nil {
		more, err := row.args(door, program[at+1:])
		if err != nil {
			return Start{}, err
		}
		args = slices.Insert(args, at+1, more...)
	}
	return Start{Program: args, Env: with(environ, set)}, nil
}

// launchers start a program that their arguments name.
var launchers = []string{"npx", "bunx", "pnpx", "uvx"}

// find gives the row of a program, and where in its arguments it is named.
func find(program []string) (at int, r row) {
	if len(program) == 0 {
		return 0, row{}
	}
	if slices.Contains(launchers, bare(program[0])) {
		at = slices.IndexFunc(program[1:], func(arg string) bool { return !strings.HasPrefix(arg, "-") }) + 1
	}
	name := bare(program[at])
	if i := slices.IndexFunc(table, func(r row) bool { return slices.Contains(r.names, name) }); i >= 0 {
		return at, table[i]
	}
	return at, row{}
}

// bare is a program's name without folder, scope, version and extension.
func bare(program string) string {
	name := filepath.Base(program)
	if before, _, ok := strings.Cut(name, "@"); ok && before != "" {
		name = before
	}
	for _, ending := range []string{".exe", ".cmd"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// variables are the variables for a program of this row. Empty ones are removed from its
// environment.
func (r row) variables(environ []string, door Door) (map[string]string, error) {
	set := common(door)
	if r.env == nil {
		return set, nil
	}
	err := r.env(set, func(name string) string { return lookup(environ, name) }, door)
	return set, err
}

// lookup is the value of a variable, "" if there is none. If it is set several times, the
// last one counts.
func lookup(environ []string, name string) (value string) {
	for _, v := range environ {
		if n, is, _ := strings.Cut(v, "="); n == name {
			value = is
		}
	}
	return value
}

// with is an environment with those variables; empty ones are removed.
func with(environ []string, set map[string]string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, own := set[name]
		return own
	})
	for name, value := range set {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return env
}
