package procgroup

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Program says what is started, and with what.
type Program struct {
	Path string   // of the executable, absolute
	Args []string // the first is the program's own name
	Dir  string   // where it runs; "" = where we do
	Env  []string // all of its environment, as NAME=value

	Stdin          io.Reader // nil = a pipe, [Process].Stdin
	Stdout, Stderr io.Writer // nil = a pipe that is read at [Process].Stdout and Stderr

	// AskedToEnd sends it SIGTERM instead of SIGKILL when this process is killed, so that it can
	// end its children itself. Linux only.
	AskedToEnd bool
	Attributes *syscall.SysProcAttr // further settings for the system; nil = none
}

// inherited are the variables that every program gets from our environment. The environment also
// holds keys of providers, so it is never inherited as a whole.
var inherited = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Environment is the environment for a program: PATH, HOME, LANG, TZ and TMPDIR as they are
// here, and the given variables, as NAME=value or, to pass on the value here, as NAME. Variables
// that are not set here are left out; the last one with a name counts.
func Environment(variables ...string) (all []string) {
	for _, list := range [][]string{inherited, variables} {
		for _, variable := range list {
			if strings.Contains(variable, "=") {
				all = append(all, variable)
			} else if value, ok := os.LookupEnv(variable); ok {
				all = append(all, variable+"="+value)
			}
		}
	}
	return all
}

// LookUp returns the absolute path of an executable. A bare name is looked up in PATH; a
// relative path begins at dir, or at the working directory if dir is "".
func LookUp(program, dir string) (string, error) {
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		absolute, err := filepath.Abs(filepath.Join(dir, program))
		if err != nil {
			return "", err
		}
		program = absolute
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// command puts the program into a session, and so a process group, of its own: it has no
// terminal to ask a person at.
func (program Program) command() *exec.Cmd {
	attributes := &syscall.SysProcAttr{}
	if program.Attributes != nil {
		*attributes = *program.Attributes
	}
	attributes.Setsid = true
	return &exec.Cmd{
		Path: program.Path, Args: program.Args, Dir: program.Dir, Env: program.Env,
		Stdin: program.Stdin, WaitDelay: PipeGrace, // for a Stdin that something holds and does not read
		SysProcAttr: attributes,
	}
}

// closeAll closes files that are no longer used.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
