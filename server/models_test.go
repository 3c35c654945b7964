package server

import (
	"testing"

	"github.com/mulligan-run/mulligan/config"
)

// TestDemoIsNotOffline: the demo's provider is within this process.
func TestDemoIsNotOffline(t *testing.T) {
	models, err := NewModels(&config.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]string{{DemoFable, DemoAtlas}, {"anthropic/m", DemoAtlas}, {"ollama/m"}, nil} {
		if models.Offline(t.Context(), list) {
			t.Errorf("%v: offline", list)
		}
	}
}
