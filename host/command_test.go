package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for want, command := range map[string][]string{
		"python": {"/opt/venv/bin/python3.11", "x.py"}, "typescript": {"node", "x.mjs"}, "java": {"java", "-jar", "x.jar"},
		"ruby": {"env", "ruby", "x.rb"}, "go": {os.Args[0]}, "": {"/nowhere/pythonic"},
	} {
		if got := language(Spec{Command: command}); got != want {
			t.Errorf("%v: %q, want %q", command, got, want)
		}
	}
	relative := Spec{Command: []string{"./" + filepath.Base(os.Args[0])}, Dir: filepath.Dir(os.Args[0])}
	if got := language(relative); got != "go" {
		t.Errorf("relative to its folder: %q", got)
	}
	if got := language(Spec{Address: "unix:/run/policy"}); got != "" {
		t.Errorf("a service: %q", got)
	}
}
