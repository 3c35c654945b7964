package main

import (
	"testing"
)

// TestDemoIsNotOffline: the demo's provider is within this process.
func TestDemoIsNotOffline(t *testing.T) {
	models, err := newModels(&config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]string{{demoFable, demoAtlas}, {"anthropic/m", demoAtlas}, {"ollama/m"}, nil} {
		if models.Offline(t.Context(), list) {
			t.Errorf("%v: offline", list)
		}
	}
}
