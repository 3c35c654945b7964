package gemini

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
)

const signing = "gemini-3-flash" // a model that wants its calls back with their signature

// start is a lab and a Model that asks it.
func start(t testing.TB) (*faultlab.Lab, *Model) {
	t.Helper()
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = lab.Close(), server.Close() })
	return lab, at(t, server.URL())
}

func ask(model string) llm.Request {
	return llm.Request{
		Model: "gemini/" + model, System: "Be brief.", Messages: []llm.Message{llm.User("hi")}, ReasoningEffort: "low",
		Tools: []llm.Tool{{Name: "weather", Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`)}, {Name: "time"}},
	}
}

// results answers the calls of a message.
func results(m llm.Message) llm.Message {
	out := llm.Message{Role: llm.RoleTool}
	for _, c := range m.Calls() {
		out.Parts = append(out.Parts, llm.Part{Result: &llm.ToolResult{CallID: c.ID, Name: c.Name, Text: "14 °C"}})
	}
	return out
}

// TestConversation asks for two tools at once, sends their results and goes on: ids
// and signatures are taken back by whom they are from.
func TestConversation(t *testing.T) {
	for _, model := range []string{signing, "gemini-2.5-flash", "m"} {
		t.Run(model, func(t *testing.T) {
			lab, m := start(t)
			lab.Script(model,
				faultlab.Thinking("two calls", faultlab.ToolCalls("Let me see.", faultlab.Call{Name: "weather", Args: `{"city":"Köln"}`}, faultlab.Call{Name: "time"})),
				faultlab.Thinking("an answer", faultlab.Answer("It is 14 °C")),
				faultlab.Answer("You are welcome."))
			request := ask(model)
			answer, err := hear(t, m, request)
			said := answer.Message(request.Model)
			if err != nil || answer.Stop != llm.StopToolUse || said.Text() != "Let me see." || answer.RequestID == "" || answer.Usage.OutputTokens == 0 {
				t.Fatalf("%v, %+v", err, answer)
			}
			calls := said.Calls()
			if len(calls) != 2 || string(calls[0].Args) != `{"city":"Köln"}` || string(calls[1].Args) != "{}" || calls[0].Signature == "" {
				t.Fatalf("calls %+v", calls)
			}
			request.Messages = append(request.Messages, said, results(said), llm.User("well?"))
			answer, err = hear(t, m, request)
			if err != nil || answer.Stop != llm.StopEnd || answer.Message("").Text() != "It is 14 °C" {
				t.Fatalf("%v, %+v", err, answer)
			}
			said = answer.Message(request.Model)
			if last := said.Parts[len(said.Parts)-1]; last.Thinking == nil || last.Thinking.Signature == "" {
				t.Errorf("no signature behind the text: %+v", said)
			}
			request.Messages = append(request.Messages, said, llm.User("Thanks."))
			if answer, err := hear(t, m, request); err != nil || answer.Stop != llm.StopEnd {
				t.Fatalf("%v, %+v", err, answer)
			}
			checkSent(t, model, string(lab.Requests()[2].Body), calls[0])
		})
	}
}

// checkSent looks at what went back after a first call.
func checkSent(t *testing.T, model, body string, first llm.ToolCall) {
	t.Helper()
	if strings.Contains(body, "two calls") || strings.Contains(body, `skip_thought_signature_validator`) || strings.Count(body, `"thoughtSignature"`) != 2 {
		t.Errorf("sent %s", body)
	}
	if times := strings.Count(body, `"id":"`+first.ID+`"`); times != 0 && model != signing || times != 2 && model == signing {
		t.Errorf("the id was sent %d times: %s", times, body)
	}
}

// TestForeignTranscript: what another model said is taken, without its thinking, its
// signatures, and with a result for the call that has none.
func TestForeignTranscript(t *testing.T) {
	foreign := llm.Message{Role: llm.RoleAssistant, Model: "other/m", Parts: []llm.Part{
		{Thinking: &llm.Thinking{Text: "hidden plan", Signature: "x"}},
		{Text: "Let me see."},
		{Call: &llm.ToolCall{ID: "call|1", Name: "weather", Args: json.RawMessage(`{}`), Signature: "y"}},
		{Call: &llm.ToolCall{ID: "call|2", Name: "time", Args: json.RawMessage(`{}`)}},
	}}
	for model, sentinels := range map[string]int{signing: 1, "gemini-2.5-flash": 0} {
		lab, m := start(t)
		lab.Script(model, faultlab.Answer("Fine."))
		request := ask(model)
		request.Messages = append(request.Messages, foreign, llm.User("and?"))
		answer, err := hear(t, m, request)
		if err != nil || answer.Message("").Text() != "Fine." {
			t.Fatalf("%s: %v, %+v", model, err, answer)
		}
		sent := string(lab.Requests()[0].Body)
		if strings.Contains(sent, "hidden plan") || strings.Count(sent, "No result provided") != 2 || strings.Count(sent, `skip_thought_signature_validator`) != sentinels {
			t.Errorf("%s: sent %s", model, sent)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		step  faultlab.Step
		kind  failure.Kind
		phase failure.Phase
		text  string
	}{
		{faultlab.RateLimited(2 * time.Second), failure.KindRateLimit, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.Overloaded(), failure.KindOverloaded, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.Unauthorized(), failure.KindAuth, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.HTML502(), failure.KindUnavailable, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.Refuse(), failure.KindUnreachable, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.CutAfter("some text"), failure.KindStreamInterrupted, failure.PhaseMidStream, "some text"},
		{faultlab.EndAfter("some text"), failure.KindStreamInterrupted, failure.PhaseEndOfStream, "some text"},
		{faultlab.ErrorEventAfter("some text"), failure.KindOverloaded, failure.PhaseMidStream, "some text"},
		{faultlab.Malformed("some text"), failure.KindMalformedResponse, failure.PhaseMidStream, "some text"},
		{faultlab.Empty200(), failure.KindEmptyResponse, failure.PhaseEndOfStream, ""},
	} {
		t.Run(c.step.Name(), func(t *testing.T) {
			lab, m := start(t)
			lab.Script("m", c.step)
			answer, err := hear(t, m, ask("m"))
			f, ok := failure.AsFailure(err)
			if !ok || f.Kind != c.kind || f.Phase != c.phase || answer.Message("").Text() != c.text || f.Provider != "gemini" {
				t.Errorf("%v, want %s, %s, %q", err, c.kind, c.phase, c.text)
			}
			if n := len(lab.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
	_, m := start(t)
	_, err := hear(t, m, ask("nobody"))
	if f, ok := failure.AsFailure(err); !ok || f.Kind != failure.KindModelNotFound {
		t.Errorf("an unknown model: %v", err)
	}
}

// TestUntold: a request that cannot be made is never sent.
func TestUntold(t *testing.T) {
	lab, m := start(t)
	lab.Script("m", faultlab.Answer("x"))
	request := ask("m")
	request.Tools[0].Schema = json.RawMessage(`{`)
	_, err := hear(t, m, request)
	if f, ok := failure.AsFailure(err); !ok || f.Kind != failure.KindPromptFailure || len(lab.Requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(lab.Requests()))
	}
}
