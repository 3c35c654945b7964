package procgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A note says whether this process still runs, and a file that is not a note is an error.
func TestNote(t *testing.T) {
	t.Parallel()
	note, err := Note()
	if err != nil || len(note) > MaxNote {
		t.Fatalf("%q, %v", note, err)
	}
	for name, c := range map[string]struct {
		text string
		is   bool
	}{
		"ours":            {string(note), true},
		"nothing":         {"", false},
		"no number":       {"x " + string(note), false},
		"only the number": {"1", false},
		"too long":        {string(note) + strings.Repeat(" ", MaxNote), false},
	} {
		path := filepath.Join(t.TempDir(), "note")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if life, err := ReadNote(path); (err == nil) != c.is || c.is && life != LifeGoesOn {
			t.Errorf("%s: %v, %v", name, life, err)
		}
	}
	if _, err := ReadNote(t.TempDir()); err == nil {
		t.Error("a folder is a note")
	}
}
