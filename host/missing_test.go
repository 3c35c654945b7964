package host

import (
	"strings"
	"testing"
)

// TestAddNamesACommandThatIsNotThere: an embedder's plugin that cannot run is no surprise at
// the first failure.
func TestAddNamesACommandThatIsNotThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	h := New()
	defer func() { _ = h.Close() }()
	for _, command := range []string{"mulligan", "./no-such-program", "/nowhere/plugin"} {
		err := h.Add(Spec{Name: "p", Command: []string{command, "plugin", "serve", "auto-recover"}})
		if err == nil || !strings.Contains(err.Error(), "plugin p") || !strings.Contains(err.Error(), strings.TrimPrefix(command, "./")) {
			t.Errorf("%s: %v", command, err)
		}
	}
	if list := h.Statuses(); len(list) != 0 {
		t.Errorf("there are plugins: %+v", list)
	}
	if err := h.Add(Spec{Name: "p", Command: []string{"mulligan"}, Late: true}); err != nil {
		t.Errorf("one that may come late: %v", err)
	}
}
