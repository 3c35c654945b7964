package advice_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// heard is a core that only records what it is asked.
type heard struct {
	question recovery.Question
	report   recovery.Report
}

var errHeard = errors.New("heard")

func (h *heard) Advise(_ context.Context, q recovery.Question) (*recovery.Run, error) {
	h.question = q
	return nil, errHeard
}

func (h *heard) Settle(_ context.Context, r recovery.Report) (*recovery.Run, error) {
	h.report = r
	return nil, errHeard
}

func desk() (*advice.Desk, *heard) {
	h := &heard{}
	return &advice.Desk{Runs: h, Classify: failure.Classify}, h
}

// TestWhatIsAsked: every word of a question has its meaning to the core.
func TestWhatIsAsked(t *testing.T) {
	d, core := desk()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var q advice.Question
	err := json.Unmarshal([]byte(`{
		"call": "c", "attempt": 1, "model": "anthropic/claude", "alternatives": ["openai/gpt"], "autoRecover": true,
		"tried": [{"attempt": 0, "model": "openai/gpt", "code": "MODEL_PROVIDER_TIMEOUT", "at": "2026-03-01T09:00:00Z", "ms": 30000}],
		"failure": {"status": 429, "headers": {"retry-after": "7", "Authorization": "Bearer x"}, "body": "{}", "message": "slow down", "exception": "RateLimitError", "when": "before_first_event"},
		"partialShown": true, "tools": {"ran": true, "unsafe": ["pay"]}, "budget": {"tokens": 9},
		"session": "s", "agentId": "main", "aborted": true, "timedOut": true, "lastAssistant": "Hello."
	}`), &q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decide(t.Context(), "me", q); !errors.Is(err, errHeard) {
		t.Fatal(err)
	}
	got := core.question
	if got.Evidence.Err == nil || got.Evidence.Err.Error() != "RateLimitError: slow down" {
		t.Errorf("said: %v", got.Evidence.Err)
	}
	on := true
	got.Evidence.Err = nil
	got.Tried[0].Failure = failure.Failure{Kind: got.Tried[0].Failure.Kind}
	want := recovery.Question{
		Call: "me/c", Attempt: 1, Model: "anthropic/claude", Alternatives: []string{"openai/gpt"}, AutoRecover: &on,
		Tried: []recovery.TriedCall{{Model: "openai/gpt", Failure: failure.Failure{Kind: failure.KindTimeout}, At: at, Duration: 30_000}},
		Evidence: failure.Evidence{
			Status: 429, Header: map[string][]string{"Retry-After": {"7"}}, Body: []byte("{}"), Phase: failure.PhaseBeforeFirstEvent,
		},
		Budget: recovery.Budget{Tokens: 9}, Shown: true, Told: recovery.Told{ToolsRan: true, UnsafeTools: []string{"pay"}, Aborted: true, TimedOut: true},
		SessionKey: "s", AgentID: "main", Said: "Hello.",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestWhatAFailureIsKnownBy: a failure is recognized however much or little a library says.
func TestWhatAFailureIsKnownBy(t *testing.T) {
	for name, c := range map[string]struct {
		question string
		want     failure.Kind
	}{
		"a status":                          {`{"failure": {"status": 529}}`, failure.KindOverloaded},
		"a code alone":                      {`{"failure": {"code": "insufficient_quota"}}`, failure.KindBilling},
		"a code beside a message":           {`{"failure": {"code": "context_length_exceeded", "message": "no"}}`, failure.KindContextOverflow},
		"a message":                         {`{"failure": {"message": "Connection refused"}}`, failure.KindUnreachable},
		"the kind":                          {`{"failure": {"kind": "billing", "status": 500}}`, failure.KindBilling},
		"time was over":                     {`{"failure": {}, "timedOut": true}`, failure.KindTimeout},
		"time was over, says a body":        {`{"failure": {"status": 401}, "timedOut": true}`, failure.KindAuth},
		"a prompt's error of a provider":    {`{"failure": {}, "promptError": "529 overloaded_error: Overloaded"}`, failure.KindOverloaded},
		"a prompt's error that is our own":  {`{"failure": {}, "promptError": "no such attachment: cat.png"}`, failure.KindPromptFailure},
		"nothing":                           {`{"failure": {}}`, failure.KindUnknown},
		"a header that says when":           {`{"failure": {"status": 429, "headers": {"retry-after": "7"}}}`, failure.KindRateLimit},
		"the exception's name and no words": {`{"failure": {"exception": "APITimeoutError"}}`, failure.KindTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			d, core := desk()
			q := advice.Question{Call: "c", Model: "openai/gpt"}
			if err := json.Unmarshal([]byte(c.question), &q); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Decide(t.Context(), "", q); !errors.Is(err, errHeard) {
				t.Fatal(err)
			}
			if got := failure.Classify(core.question.Evidence).Kind; got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
		})
	}
}

// TestWhatIsRefused: the field is named.
func TestWhatIsRefused(t *testing.T) {
	whole := func(change func(*advice.Question)) advice.Question {
		q := advice.Question{Call: "c", Model: "openai/gpt"}
		change(&q)
		return q
	}
	long := strings.Repeat("x", 1<<17)
	for field, q := range map[string]advice.Question{
		"call":              whole(func(q *advice.Question) { q.Call = "" }),
		"attempt":           whole(func(q *advice.Question) { q.Attempt = 100 }),
		"model":             whole(func(q *advice.Question) { q.Model = "gpt" }),
		"alternatives":      whole(func(q *advice.Question) { q.Alternatives = make([]string, 33) }),
		"alternatives[1]":   whole(func(q *advice.Question) { q.Alternatives = []string{"a/b", "b"} }),
		"tried":             whole(func(q *advice.Question) { q.Tried = make([]advice.TriedCall, 100) }),
		"tried[0].model":    whole(func(q *advice.Question) { q.Tried = make([]advice.TriedCall, 1) }),
		"tried[0].kind":     whole(func(q *advice.Question) { q.Tried = []advice.TriedCall{{Model: "a/b", Kind: "rate_limitt"}} }),
		"tried[0].ms":       whole(func(q *advice.Question) { q.Tried = []advice.TriedCall{{Model: "a/b", Millis: -1}} }),
		"failure.status":    whole(func(q *advice.Question) { q.Failure.Status = 7 }),
		"failure.body":      whole(func(q *advice.Question) { q.Failure.Body = long }),
		"failure.message":   whole(func(q *advice.Question) { q.Failure.Message = long }),
		"failure.kind":      whole(func(q *advice.Question) { q.Failure.Kind = "bilking" }),
		"failure.code":      whole(func(q *advice.Question) { q.Failure.Code = "\xff" }),
		"failure.exception": whole(func(q *advice.Question) { q.Failure.Exception = long }),
		"failure.headers":   whole(func(q *advice.Question) { q.Failure.Headers = manyHeaders() }),
		"tools.unsafe":      whole(func(q *advice.Question) { q.Tools.Unsafe = make([]string, 65) }),
		"budget":            whole(func(q *advice.Question) { q.Budget = &recovery.Budget{Tokens: -1} }),
		"session":           whole(func(q *advice.Question) { q.Session = long }),
		"lastAssistant":     whole(func(q *advice.Question) { q.LastAssistant = long }),
	} {
		d, _ := desk()
		_, err := d.Decide(t.Context(), "", q)
		if wrong, ok := errors.AsType[*advice.FieldError](err); !ok || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, o := range []advice.Outcome{{OK: true}, {Call: "c", Failure: &advice.Evidence{Kind: "bilking"}}, {Call: "c", OK: true, Model: "x"}} {
		d, _ := desk()
		if _, err := d.Close(t.Context(), "", o); errors.Is(err, errHeard) {
			t.Errorf("%+v is taken", o)
		}
	}
}

func manyHeaders() map[string]string {
	many := map[string]string{}
	for i := range 65 {
		many[strings.Repeat("x", i)] = ""
	}
	return many
}

// silent is a model that nobody calls.
type silent struct{ llm.Model }

// TestAskedForReal: auto-recover, as it is shipped, about an overloaded provider.
func TestAskedForReal(t *testing.T) {
	r := runner.New(runner.WithModel("a/one", silent{}), runner.WithHook("auto-recover", autorecover.Hook()))
	d := &advice.Desk{Runs: r, Classify: failure.Classify}
	on := true
	q := advice.Question{Call: "c", Model: "anthropic/claude", Alternatives: []string{"openai/gpt"}, Failure: advice.Evidence{Status: 503}, AutoRecover: &on}
	a, err := d.Decide(t.Context(), "me", q)
	if err != nil || !a.Acts() || len(a.Votes) != 1 || a.Failure.Kind != failure.KindOverloaded {
		t.Fatalf("%+v, %v", a, err)
	}
	other, err := d.Decide(t.Context(), "somebody else", q)
	if err != nil || other.Run == a.Run {
		t.Errorf("calls of one name by two callers are one: %v", err)
	}
	q.AutoRecover = nil
	q.Call = "another"
	offered, err := d.Decide(t.Context(), "me", q)
	if err != nil || offered.Acts() || offered.RecoverySuggestion == nil {
		t.Errorf("%+v, %v", offered, err)
	}
	closed, err := d.Close(t.Context(), "me", advice.Outcome{Call: "c", OK: true})
	if err != nil || closed.Run != a.Run || closed.Status != recovery.StatusCompleted {
		t.Errorf("%+v, %v", closed, err)
	}
}

// FuzzQuestion (I56): any question is answered or refused with its field, and alike by two
// cores that have not heard of it.
func FuzzQuestion(f *testing.F) {
	for _, seed := range []string{
		`{"call":"c","model":"a/b","failure":{"status":529}}`,
		`{"call":"c","model":"a/b","attempt":5,"tried":[{"model":"a/c","code":"MODEL_NOT_FOUND"}],"alternatives":["a/b","c/d"],"failure":{"kind":"timeout"},"autoRecover":true}`,
		`{"call":"c","model":"a/b","failure":{"body":"{\"error\":{}}","headers":{"retry-after":"Mon"}},"partialShown":true,"budget":{"tokens":1}}`,
	} {
		f.Add([]byte(seed))
	}
	hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry, Delay: failure.Millis(100 * e.Retries)}, nil
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		var q advice.Question
		if json.Unmarshal(data, &q) != nil {
			return
		}
		var said []string
		for range 2 {
			r := runner.New(runner.WithModel("a/one", silent{}), runner.WithHook("p", hook))
			a, err := (&advice.Desk{Runs: r, Classify: failure.Classify}).Decide(t.Context(), "me", q)
			if _, refused := errors.AsType[*advice.FieldError](err); err != nil && !refused {
				t.Fatalf("%+v: %v", q, err)
			}
			a.Decision.Delay, a.RecoverySuggestion, a.Votes = 0, nil, nil // which hold times
			a.Failure.ResetsAt, a.Failure.Message, a.Failure.RetryAfter = time.Time{}, "", 0
			if a.Decision.By != nil {
				a.Decision.By.Millis = 0
			}
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(text))
			if err := r.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if said[0] != said[1] {
			t.Errorf("%s\n%s", said[0], said[1])
		}
	})
}
