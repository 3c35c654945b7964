package cluster

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build builds mulligan from its sources, with the files of over, by their paths, replaced.
func build(t *testing.T, program string, over map[string]string) {
	t.Helper()
	replace := map[string]string{}
	for path, text := range over {
		at := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[path] = at
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err == nil {
		err = os.WriteFile(overlay, list, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", program, "./cmd/mulligan")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// changed is a file's text with one piece replaced.
func changed(t *testing.T, path, piece, by string) (text string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(old), piece) != 1 {
		t.Fatalf("%s has not one %q", path, piece)
	}
	return strings.Replace(string(old), piece, by, 1)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
