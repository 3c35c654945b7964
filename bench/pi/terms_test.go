package pi

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// TestTerms sets the limits of a call's reasoning and answer. Pi sends them on each wire, and
// returns to its own limits with the next call.
func TestTerms(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		for api, c := range map[string]struct{ base, want string }{
			"anthropic-messages":   {"", `[3282,2048]`}, // the budget of low is added
			"openai-completions":   {"/v1", `[1234,"low"]`},
			"openai-responses":     {"/v1", `[1234,"low"]`},
			"google-generative-ai": {"/v1beta", `[1234,-1]`}, // Pi has no budget for a model that it does not know
		} {
			t.Run(api, func(t *testing.T) {
				h := build(t, command, map[string]string{"thinker": "answer:Fine."}, observed)
				addModels(t, h, api, c.base)
				set, err := provider.New([]provider.Entry{h.entry})
				if err != nil {
					t.Fatal(err)
				}
				defer set.Close()
				model, err := set.Model("pi/thinking/thinker")
				if err != nil {
					t.Fatal(err)
				}
				ask := func(effort string, limit int) {
					request := llm.Request{Model: "pi/thinking/thinker", Session: "s", Messages: []llm.Message{llm.User("hi " + effort)}, ReasoningEffort: effort, MaxOutputTokens: limit}
					for _, err := range model.Stream(t.Context(), request) {
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				ask("", 0)
				ask("low", 1234)
				ask("", 0)
				requests := h.lab.Requests()
				if len(requests) != 3 {
					t.Fatalf("%d requests", len(requests))
				}
				before, said, after := wordsOf(t, requests[0]), wordsOf(t, requests[1]), wordsOf(t, requests[2])
				if said != c.want {
					t.Errorf("Pi asks with %s, not %s", said, c.want)
				}
				if before != after || before == said {
					t.Errorf("Pi asks with %s before that, and with %s after it", before, after)
				}
			})
		}
	})
}

// wordsOf are the limit and the effort of a request, in its wire's terms.
func wordsOf(t *testing.T, r faultlab.Request) string {
	t.Helper()
	var body struct {
		Anthropic int `json:"max_tokens"`
		Chat      int `json:"max_completion_tokens"`
		Responses int `json:"max_output_tokens"`
		Thinking  struct {
			Budget int `json:"budget_tokens"`
		} `json:"thinking"`
		Effort    string `json:"reasoning_effort"`
		Reasoning struct {
			Effort string `json:"effort"`
		} `json:"reasoning"`
		Gemini struct {
			Limit    int `json:"maxOutputTokens"`
			Thinking struct {
				Budget int `json:"thinkingBudget"`
			} `json:"thinkingConfig"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	limit := cmp.Or(body.Anthropic, body.Chat, body.Responses, body.Gemini.Limit)
	effort := any(cmp.Or(body.Thinking.Budget, body.Gemini.Thinking.Budget))
	if word := cmp.Or(body.Effort, body.Reasoning.Effort); word != "" {
		effort = word
	}
	b, _ := json.Marshal([]any{limit, effort}) // numbers and text can always be marshalled
	return string(b)
}

func addModels(t *testing.T, h *harness, api, base string) {
	t.Helper()
	b, err := json.Marshal(map[string]any{"providers": map[string]any{"thinking": map[string]any{
		"baseUrl": h.url + base, "api": api, "apiKey": "any-key",
		"models": []map[string]any{{"id": "thinker", "reasoning": true, "contextWindow": 200000, "maxTokens": 40000}},
	}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(h.entry.Engine.ConfigDir, "models.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
