package gemini

import "testing"

func TestGenerations(t *testing.T) {
	for model, want := range map[string]bool{
		"gemini-3-pro-preview": true, "gemini-3.8-flash": true, "gemini-10": true,
		"gemini-flash-latest": true, "gemini-flash-lite-latest": true,
		"gemini-2.5-pro": false, "gemini-1.5-flash-latest": false, "gemini-robotics-er-1.5-preview": false,
		"gemini-99999999999999999999": false, "gemini-": false, "gemma-3-27b-it": false, "m": false, "": false,
	} {
		if isGemini3(model) != want {
			t.Errorf("%s: %v", model, !want)
		}
	}
}

func TestThinking(t *testing.T) {
	for _, c := range []struct {
		model, effort string
		want          wireThinking // the zero value = none
	}{
		{"gemini-3.8-flash", "medium", wireThinking{Show: true, Level: "MEDIUM"}},
		{"gemini-3-pro-preview", "medium", wireThinking{Show: true, Level: "HIGH"}},
		{"gemini-3-pro-preview", "low", wireThinking{Show: true, Level: "LOW"}},
		{"gemini-2.5-flash-lite", "low", wireThinking{Show: true, Budget: 2048}},
		{"gemini-2.5-pro", "high", wireThinking{Show: true, Budget: 16384}},
		{"gemini-3.8-flash", "", wireThinking{}},
		{"gemini-3.8-flash", "utmost", wireThinking{}},
		{"gemini-2.0-flash", "high", wireThinking{}},
		{"gemma-3-27b-it", "high", wireThinking{}},
	} {
		var got wireThinking
		if asked := thinkingFor(c.model, c.effort); asked != nil {
			got = *asked
		}
		if got != c.want {
			t.Errorf("%s, %q: %+v", c.model, c.effort, got)
		}
	}
}
