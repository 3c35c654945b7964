package values_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/values"
	"github.com/mulligan-run/mulligan/values/valuestest"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with % and ?", "values.db")
	var opened [2]*values.File
	for i := range opened {
		f, err := values.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		opened[i] = f
	}
	valuestest.Store(t, opened[0], opened[1])
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestMemory(t *testing.T) {
	m, err := values.Memory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	valuestest.Store(t, m, m)
	other, err := values.Memory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	if value, _, err := other.GetValue(t.Context(), "p", "sum"); value != nil || err != nil {
		t.Errorf("two stores in memory are one: %q, %v", value, err)
	}
}
