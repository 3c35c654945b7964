package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// TestSuggestedFirst: what is suggested is first with its reason and is pressed by Alt+1, other
// models are behind one entry, and Stop is last.
func TestSuggestedFirst(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(func(p *recovery.Policy) {
			p.AutoRecover = false
			p.Models = []string{"anthropic/opus", "openai/gpt", "gemini/flash", "groq/llama"}
		})
		f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		f.Describe(failure.Words{})
		s.happens(recovery.Failed{Attempt: 1, Failure: *f, Alternatives: []recovery.Alternative{{Model: "openai/gpt"}, {Model: "gemini/flash"}, {Model: "groq/llama"}}})
		s.decides(retry)
		s.has("auto-recover suggests Retry: it may pass")
		s.has("[1] Retry   [2] Switch model…   [3] Stop")
		asks := s.chat.last().view.Suggestion()
		id := func(kind, model string) string {
			for _, b := range asks.Actions {
				if b.Kind == kind && b.Model == model {
					return b.ID
				}
			}
			s.Fatalf("no %s %s in %+v", kind, model, asks.Actions)
			return ""
		}
		s.feeds(tea.KeyPressMsg{Code: '2', Mod: tea.ModAlt})
		s.has("[2] gemini/flash")
		s.sends("2")
		s.feeds(tea.KeyPressMsg{Code: '1', Mod: tea.ModAlt})
		want := []client.Answer{
			{Suggestion: asks.ID, Action: id(recovery.ButtonSwitchModel, "gemini/flash")},
			{Suggestion: asks.ID, Action: id(recovery.ButtonRetry, "")},
		}
		if diff := cmp.Diff(want, s.gateway.answers); diff != "" {
			s.Error(diff)
		}
	})
}

// TestUnsafeCallShowsItsArguments: whoever is asked to run a tool again sees what it would do.
func TestUnsafeCallShowsItsArguments(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		call := llm.ToolCall{ID: "c1", Name: "send_mail", Args: []byte(`{"to":"ann@example.org","text":"Hello"}`)}
		s.happens(recovery.Answered{Attempt: 1, Stop: llm.StopToolUse, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &call}}}})
		s.happens(recovery.ToolBegan{CallID: "c1", Name: "send_mail"})
		s.happens(recovery.ToolReturned{CallID: "c1", Outcome: recovery.OutcomeUnknown, Result: llm.ToolResult{CallID: "c1", Name: "send_mail", IsError: true}})
		s.goesOn()
		s.decides(retry)
		s.has("send_mail may or may not have worked")
		s.has(`send_mail {"to":"ann@example.org","text":"Hello"}`)
	})
}
