package gateway

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/recovery"
)

// TestTheFramesAreTyped: every event of the golden logs is as the document says, and what is no frame
// is not.
func TestTheFramesAreTyped(t *testing.T) {
	g, _ := documented(t)
	doc := g.api.OpenAPI()
	schema := doc.Paths["/v1/runs/{id}/events"].Get.Responses["200"].Content["text/event-stream"].Schema
	faults := func(frame any) []error {
		data, err := json.Marshal([]any{frame})
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		result := &huma.ValidateResult{}
		huma.Validate(doc.Components.Schemas, schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, value, result)
		return result.Errors
	}
	paths, err := filepath.Glob("../sdk/conformance/timelines/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var log struct{ Events []recovery.Event }
		if err := json.Unmarshal(text, &log); err != nil {
			t.Fatal(path, err)
		}
		for _, e := range log.Events {
			seen[e.Type()] = true
			if wrong := faults(map[string]any{"event": "event", "id": "1", "data": e}); len(wrong) > 0 {
				t.Errorf("%s: %s: %v", filepath.Base(path), e.Type(), wrong)
			}
		}
	}
	for _, kind := range []string{"started", "began", "answered", "failed", "voted", "decided", "suggested", "ended", "tool_began", "tool_returned"} {
		if !seen[kind] {
			t.Errorf("no golden log has a %s", kind)
		}
	}
	for name, frame := range map[string]any{
		"no data":         map[string]any{"event": "end"},
		"no such frame":   map[string]any{"event": "ends", "data": map[string]any{}},
		"no such event":   map[string]any{"event": "event", "id": "1", "data": map[string]any{"v": 1, "run": "r", "seq": 1, "time": "2026-03-02T09:30:00Z", "type": "begun", "data": map[string]any{}}},
		"a delta's fault": map[string]any{"event": "delta", "data": map[string]any{"text": 7}},
	} {
		if len(faults(frame)) == 0 {
			t.Errorf("%s: %v is a frame", name, frame)
		}
	}
}
