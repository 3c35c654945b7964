package responses_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/responses"
)

const full = "openai-responses/m"

// start is a lab that is strict about the wire, and the adapter that asks it.
func start(t *testing.T) (*faultlab.Lab, *responses.Model) {
	t.Helper()
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = lab.Close(), server.Close() })
	model, err := responses.New(responses.Config{BaseURL: server.URL() + "/v1", Key: func() (string, error) { return "test-key", nil }})
	if err != nil {
		t.Fatal(err)
	}
	return lab, model
}

// hear asks and folds the answer.
func hear(t *testing.T, model llm.Model, request llm.Request) (llm.Answer, error) {
	t.Helper()
	var answer llm.Answer
	for delta, err := range model.Stream(t.Context(), request) {
		if err != nil {
			return answer, err
		}
		answer.Add(delta)
	}
	return answer, nil
}

func ask() llm.Request {
	return llm.Request{
		Model: full, System: "Be brief.", Messages: []llm.Message{llm.User("hi")},
		Tools: []llm.Tool{{Name: "weather"}, {Name: "time", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

func results(calls []llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.RoleTool}
	for i, c := range calls {
		m.Parts = append(m.Parts, llm.Part{Result: &llm.ToolResult{CallID: c.ID, Name: c.Name, Text: "done", IsError: i > 0}})
	}
	return m
}

// TestRounds: the reasoning and the calls of a first answer go back with their results.
func TestRounds(t *testing.T) {
	calls := faultlab.ToolCalls("Let me see.", faultlab.Call{Name: "weather", Args: `{"city":"Köln"}`}, faultlab.Call{Name: "time"})
	lab, model := start(t)
	lab.Script("m", faultlab.Thinking("two calls", calls), faultlab.Answer("Fine."), faultlab.Answer("Bye."))
	request := ask()
	request.MaxOutputTokens, request.ReasoningEffort = 5, "low"
	answer, err := hear(t, model, request)
	said := answer.Message(full)
	if err != nil || answer.Stop != llm.StopToolUse || said.Text() != "Let me see." || answer.RequestID == "" || answer.Usage.OutputTokens == 0 {
		t.Fatalf("%v, %+v", err, answer)
	}
	made := said.Calls()
	if len(made) != 2 || string(made[0].Args) != `{"city":"Köln"}` || string(made[1].Args) != "{}" {
		t.Fatalf("calls %+v", made)
	}
	if thought := said.Parts[0].Thinking; thought == nil || thought.Text != "two calls" || thought.Signature == "" {
		t.Fatalf("parts %+v", said.Parts)
	}
	request.Messages = append(request.Messages, said, results(made), llm.User("and?"))
	for round, want := range []string{"Fine.", "Bye."} {
		if answer, err = hear(t, model, request); err != nil || answer.Stop != llm.StopEnd || answer.Message("").Text() != want {
			t.Fatalf("%v, %+v", err, answer)
		}
		body := string(lab.Requests()[round+1].Body)
		if !strings.Contains(body, `"type":"reasoning"`) || !strings.Contains(body, "encrypted_content") || !strings.Contains(body, `"output":"Error: done"`) {
			t.Errorf("sent %s", body)
		}
		request.ReasoningEffort = "" // what was reasoned goes on to be sent
	}
}

// TestAnotherModel: the lab takes nobody's reasoning but the model's own.
func TestAnotherModel(t *testing.T) {
	lab, model := start(t)
	lab.Script("m", faultlab.Thinking("hidden plan", faultlab.ToolCall("time", "{}")))
	lab.Script("n", faultlab.Answer("Fine."))
	request := ask()
	request.ReasoningEffort = "low"
	answer, err := hear(t, model, request)
	if err != nil {
		t.Fatal(err)
	}
	request.Messages = append(request.Messages, answer.Message(full), llm.User("and?"))
	request.Model = "openai-responses/n"
	var repaired []llm.Repair
	for delta, err := range model.Stream(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
		repaired = append(repaired, delta.Repairs...)
	}
	if len(repaired) != 2 || repaired[0].Kind != llm.RepairThinking || repaired[1].Kind != llm.RepairResultMissing {
		t.Errorf("repairs %+v", repaired)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		step  faultlab.Step
		kind  failure.Kind
		phase failure.Phase
	}{
		{faultlab.RateLimited(2 * time.Second), failure.KindRateLimit, failure.PhaseBeforeFirstEvent},
		{faultlab.Unauthorized(), failure.KindAuth, failure.PhaseBeforeFirstEvent},
		{faultlab.CutAfter("some text"), failure.KindStreamInterrupted, failure.PhaseMidStream},
		{faultlab.EndAfter("some text"), failure.KindStreamInterrupted, failure.PhaseEndOfStream},
		{faultlab.ErrorEventAfter("some text"), failure.KindOverloaded, failure.PhaseMidStream},
		{faultlab.Malformed("some text"), failure.KindMalformedResponse, failure.PhaseMidStream},
		{faultlab.Empty200(), failure.KindEmptyResponse, failure.PhaseEndOfStream},
	} {
		t.Run(c.step.Name(), func(t *testing.T) {
			lab, model := start(t)
			lab.Script("m", c.step)
			answer, err := hear(t, model, ask())
			f, ok := failure.AsFailure(err)
			if !ok || f.Kind != c.kind || f.Phase != c.phase || f.Provider != "openai-responses" || answer.Stop != "" {
				t.Errorf("%+v, %v", answer, err)
			}
			if n := len(lab.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	model, err := responses.New(responses.Config{})
	if err != nil || model.Loopback() {
		t.Fatal(err)
	}
	_, err = hear(t, model, ask())
	if f, ok := failure.AsFailure(err); !ok || f.Kind != failure.KindAuth || !strings.Contains(f.Detail, "OPENAI_API_KEY") {
		t.Errorf("no key: %v", err)
	}
	elsewhere, err := responses.New(responses.Config{BaseURL: "https://example.com/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = hear(t, elsewhere, ask())
	if f, ok := failure.AsFailure(err); !ok || strings.Contains(f.Detail, "OPENAI_API_KEY") {
		t.Errorf("another's key: %v", err)
	}
	if _, err := responses.New(responses.Config{BaseURL: "http://example.com"}); err == nil {
		t.Error("plain http to the world")
	}
}

// TestAFailureIsCounted: what a response had used when it failed is told before the
// failure.
func TestAFailureIsCounted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1"}}

data: {"type":"response.failed","sequence_number":1,"response":{"id":"resp_1","error":{"code":"server_error","message":"x"},"usage":{"input_tokens":30,"output_tokens":12}}}

`)
	}))
	defer server.Close()
	model, err := responses.New(responses.Config{BaseURL: server.URL + "/v1", Key: func() (string, error) { return "test-key", nil }})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := hear(t, model, ask())
	if f, ok := failure.AsFailure(err); !ok || f.Kind != failure.KindUnavailable {
		t.Errorf("%v", err)
	}
	if want := (llm.Usage{InputTokens: 30, OutputTokens: 12}); answer.Usage != want {
		t.Errorf("used %+v, want %+v", answer.Usage, want)
	}
}
