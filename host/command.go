package host

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// interpreters are programs that run scripts, by the beginning of their names.
var interpreters = []struct{ prefix, language string }{
	{"python", "python"},
	{"pypy", "python"},
	{"uv", "python"},
	{"node", "typescript"},
	{"deno", "typescript"},
	{"bun", "typescript"},
	{"npx", "typescript"},
	{"tsx", "typescript"},
	{"ruby", "ruby"},
	{"java", "java"},
	{"dotnet", "csharp"},
	{"php", "php"},
	{"perl", "perl"},
	{"cargo", "rust"},
	{"bash", "shell"},
	{"sh", "shell"},
	{"env", "shell"},
}

// interpreted returns the language of an interpreter, "" for any other program.
func interpreted(program string) string {
	name := filepath.Base(program)
	for _, i := range interpreters {
		rest, ok := strings.CutPrefix(name, i.prefix)
		if ok && strings.Trim(rest, "0123456789.-") == "" {
			return i.language
		}
	}
	return ""
}

// language guesses from a command which language a plugin is written in, for people to
// read; "" if unknown.
func language(spec Spec) string {
	if len(spec.Command) == 0 {
		return ""
	}
	if name := interpreted(spec.Command[0]); name != "" {
		if name == "shell" && len(spec.Command) > 1 {
			return interpreted(spec.Command[1])
		}
		return name
	}
	path, err := procgroup.LookUp(spec.Command[0], spec.Dir)
	if err != nil {
		return ""
	}
	if _, err := buildinfo.ReadFile(path); err == nil {
		return "go"
	}
	return ""
}

// absolute resolves a path the way a process running in dir would.
func absolute(path, dir string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Abs(filepath.Join(dir, path))
}

// projects are files that mark the top folder of a project.
var projects = []string{"package.json", "pyproject.toml", "requirements.txt", "Gemfile", "deno.json"}

// home returns the executable and the folder that holds the whole plugin, as
// [HashFolder] explains.
func home(spec Spec) (program, folder string, err error) {
	if len(spec.Command) == 0 {
		return "", "", errors.New("a plugin without a command has no folder")
	}
	program, err = procgroup.LookUp(spec.Command[0], spec.Dir)
	if err != nil {
		return "", "", err
	}
	isInterpreter := interpreted(spec.Command[0]) != ""
	switch {
	case spec.Folder != "":
		folder, err = filepath.Abs(spec.Folder)
	case isInterpreter:
		folder, err = scriptFolder(spec)
	default:
		folder = filepath.Dir(program)
	}
	if err == nil && !isInterpreter && !within(folder, program) {
		err = fmt.Errorf("the executable %s is not in the plugin's folder %s", program, folder)
	}
	return program, folder, err
}

// scriptFolder looks at the first argument that is a file. It returns the nearest
// folder above it that has a project file, or else the file's own folder.
func scriptFolder(spec Spec) (string, error) {
	for _, argument := range spec.Command[1:] {
		path, err := absolute(argument, spec.Dir)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		folder := filepath.Dir(path)
		for at := folder; ; at = filepath.Dir(at) {
			for _, name := range projects {
				if _, err := os.Stat(filepath.Join(at, name)); err == nil {
					return at, nil
				}
			}
			if at == filepath.Dir(at) {
				return folder, nil
			}
		}
	}
	return "", fmt.Errorf("no argument of %s is a file: say which folder holds the plugin", filepath.Base(spec.Command[0]))
}

// within reports whether path is folder or below it; both are absolute.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
