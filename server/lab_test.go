package server

import (
	"testing"

	"github.com/mulligan-run/mulligan/config"
)

// TestLab: what is listed can be called up, and there is no lab where somebody has an entry of its
// name, or other machines drive the runs.
func TestLab(t *testing.T) {
	models, err := NewModels(&config.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	lab := models.lab()
	if lab == nil {
		t.Fatal("there is none")
	}
	for _, f := range lab.Faults().Faults {
		if err := lab.Fail(f.Name); err != nil {
			t.Error(err)
		}
	}
	if err := lab.Fail("nothing"); err == nil {
		t.Error("a fault that is none was taken")
	}
	models.driveless = true
	if models.lab() != nil {
		t.Error("there is one where runs are driven elsewhere")
	}
	own, err := NewModels(&config.Config{Providers: map[string]config.Provider{"fable": {Type: "openai", BaseURL: "http://127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if own.lab() != nil {
		t.Error("somebody's own entry would be asked")
	}
}
