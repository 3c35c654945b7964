package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/health"
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

// TestModelsHaveAnOrder: a model's number is the same each time.
func TestModelsHaveAnOrder(t *testing.T) {
	providers := map[string]providerEntry{}
	for _, entry := range []string{"a", "b", "c", "d"} {
		providers[entry] = providerEntry{Type: "openai", BaseURL: "http://127.0.0.1:1", Models: map[string]modelEntry{"one": {}, "two": {}, "three": {}}}
	}
	c := &config{Model: "c/two", Providers: providers}
	models, err := newModels(c)
	if err != nil {
		t.Fatal(err)
	}
	defer models.close()
	known, err := health.Open(filepath.Join(t.TempDir(), "health.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &service{app: &app{config: c}, models: models, known: known}
	first := s.listModels()
	if first[0].Name != "c/two" || len(first) < 12 {
		t.Errorf("models: %+v", first)
	}
	for range 20 {
		if diff := cmp.Diff(first, s.listModels()); diff != "" {
			t.Fatal(diff)
		}
	}
}
