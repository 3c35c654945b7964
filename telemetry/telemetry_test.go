package telemetry_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/telemetry"
	"github.com/mulligan-run/mulligan/timeline"
)

// canary is said everywhere in a run, and must never come out.
const canary = "xq7canary"

// model answers its n-th call by the n-th script; the last one repeats.
type model struct {
	mu      sync.Mutex
	calls   int
	scripts []func(ctx context.Context, hear func(llm.Delta) bool) error
}

func (m *model) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Delta, error] {
	m.mu.Lock()
	script := m.scripts[min(m.calls, len(m.scripts)-1)]
	m.calls++
	m.mu.Unlock()
	return func(yield func(llm.Delta, error) bool) {
		if err := script(ctx, func(d llm.Delta) bool { return yield(d, nil) }); err != nil {
			yield(llm.Delta{}, err)
		}
	}
}

func overloaded(_ context.Context, hear func(llm.Delta) bool) error {
	hear(llm.Delta{Kind: llm.DeltaStart})
	hear(llm.Delta{Kind: llm.DeltaText, Text: "partial " + canary})
	hear(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 7, OutputTokens: 1}})
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, errors.New(canary))
	f.HTTPStatus, f.Title, f.Message, f.Detail, f.ProviderCode, f.RequestID = 529, canary, canary, canary, canary, canary
	f.Model, f.Provider = "acme/small", "acme"
	return f
}

func asks(_ context.Context, hear func(llm.Delta) bool) error {
	hear(llm.Delta{Kind: llm.DeltaStart})
	hear(llm.Delta{Kind: llm.DeltaCall, CallID: "call-" + canary, Name: "search"})
	hear(llm.Delta{Kind: llm.DeltaArgs, Text: `{"q":"` + canary + `"}`})
	hear(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 10, OutputTokens: 5, CacheReadTokens: 3}})
	hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopToolUse})
	return nil
}

func answers(_ context.Context, hear func(llm.Delta) bool) error {
	hear(llm.Delta{Kind: llm.DeltaStart})
	hear(llm.Delta{Kind: llm.DeltaText, Text: "the answer " + canary})
	hear(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 20, OutputTokens: 2}})
	hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
	return nil
}

func hangs(ctx context.Context, hear func(llm.Delta) bool) error {
	hear(llm.Delta{Kind: llm.DeltaStart})
	<-ctx.Done()
	return context.Cause(ctx)
}

// kept is an exporter that keeps spans.
type kept struct {
	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan
}

func (k *kept) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spans = append(k.spans, spans...)
	return nil
}

func (k *kept) Shutdown(context.Context) error { return nil }

// tree draws the spans below those that have no parent, a line each.
func (k *kept) tree() string {
	seq := func(s sdktrace.ReadOnlySpan) int { n, _ := strconv.Atoi(value(s, "mulligan.event.seq")); return n }
	slices.SortFunc(k.spans, func(a, b sdktrace.ReadOnlySpan) int {
		return cmp.Or(a.StartTime().Compare(b.StartTime()), cmp.Compare(seq(a), seq(b)))
	})
	var out strings.Builder
	var draw func(parent, indent string)
	draw = func(parent, indent string) {
		for _, s := range k.spans {
			if s.Parent().SpanID().String() != parent {
				continue
			}
			out.WriteString(indent + s.Name())
			for _, key := range []attribute.Key{"error.type", "mulligan.outcome", "mulligan.run.status", "mulligan.run.recovered"} {
				if v := value(s, key); v != "" {
					out.WriteString(" " + v)
				}
			}
			out.WriteString("\n")
			draw(s.SpanContext().SpanID().String(), indent+"  ")
		}
	}
	draw("0000000000000000", "")
	return out.String()
}

func value(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, kv := range s.Attributes() {
		if kv.Key == key {
			return kv.Value.String()
		}
	}
	return ""
}

// world is a runner that is measured.
type world struct {
	*testing.T
	telemetry *telemetry.Telemetry
	spans     kept
	log       *timeline.Journal
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, log: timeline.NewMemory()}
	var err error
	w.telemetry, err = telemetry.New(t.Context(), telemetry.Config{
		Models: []string{"acme/small"}, Log: w.log, Prometheus: true, Spans: &w.spans,
		Plugins: func() []telemetry.Plugin { return []telemetry.Plugin{{Name: "helper", State: "ready"}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) runner(auto bool, scripts ...func(context.Context, func(llm.Delta) bool) error) *runner.Runner {
	retry := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry, Delay: 2000, Reason: canary}, nil
	})
	return runner.New(
		runner.WithModel("acme/small", &model{scripts: scripts}), runner.WithHook("helper", retry), runner.WithAutoRecover(auto),
		runner.WithPolicy(func(p *recovery.Policy) {
			p.Budget = recovery.Budget{Microdollars: 1e9}
			p.Prices = map[string]recovery.Price{"acme/small": {Input: 1e6, Output: 1e6}}
		}),
		runner.WithTools(runner.Tool{Name: "search", Run: func(context.Context, runner.ToolCall) (string, error) { return canary, nil }}),
		runner.WithLog(w.log), runner.WithObserver(w.telemetry),
	)
}

// close gives what Prometheus reads, and has all spans exported.
func (w *world) close() string {
	w.Helper()
	read := httptest.NewRecorder()
	w.telemetry.Handler().ServeHTTP(read, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if err := w.telemetry.Close(w.Context()); err != nil {
		w.Fatal(err)
	}
	return read.Body.String()
}

// has demands lines of what Prometheus reads.
func (w *world) has(metrics string, lines ...string) {
	w.Helper()
	for _, line := range lines {
		if !strings.Contains(metrics, "\n"+line+"\n") {
			w.Errorf("there is no line %s in\n%s", line, only(metrics, "mulligan_"))
		}
	}
}

func only(metrics, prefix string) string {
	var lines []string
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, prefix) && !strings.Contains(line, "_bucket{") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestRecoveredRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.runner(true, overloaded, asks, answers).Run(t.Context(), canary); err != nil {
			t.Fatal(err)
		}
		metrics := w.close()
		want := `run completed true
  round 1
    chat small overloaded failed
    hook helper retry
    wait time over
    chat small answered
    execute_tool search ok
  round 2
    chat small answered
`
		if got := w.spans.tree(); got != want {
			t.Errorf("spans:\n%s\nwant:\n%s", got, want)
		}
		w.has(metrics,
			`mulligan_runs_started_total 1`, `mulligan_runs_recovered_total 1`,
			`mulligan_runs_ended_total{status="completed",stop_reason="completed"} 1`,
			`mulligan_runs_driven{status="running"} 0`,
			`mulligan_attempts_total{kind="none",model="acme/small",outcome="answered",provider="acme"} 2`,
			`mulligan_attempts_total{kind="overloaded",model="acme/small",outcome="failed",provider="acme"} 1`,
			`mulligan_decisions_total{action="retry",plugin="helper"} 1`,
			`mulligan_hook_duration_seconds_count{outcome="retry",plugin="helper"} 1`,
			`mulligan_wait_duration_seconds_sum{for="time"} 2`,
			`mulligan_tool_duration_seconds_count{outcome="ok"} 1`,
			`mulligan_tokens_total{model="acme/small",provider="acme",type="input"} 37`,
			`mulligan_tokens_total{model="acme/small",provider="acme",type="cache_read"} 3`,
			`mulligan_tokens_wasted_total{model="acme/small",provider="acme"} 8`,
			`mulligan_cost_usd_total{model="acme/small",provider="acme"} 5.1e-05`,
			`mulligan_plugin_state{plugin="helper",state="ready"} 1`,
			`mulligan_suggestions_open 0`,
		)
	})
}

// What was said is in no span and in no metric (S15, I21).
func TestNothingSaidIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.runner(true, overloaded, asks, answers).Run(t.Context(), canary); err != nil {
			t.Fatal(err)
		}
		metrics := w.close()
		if strings.Contains(metrics, canary) {
			t.Error("S15: the canary is in the metrics")
		}
		for _, s := range w.spans.spans {
			said := []string{s.Name(), s.Status().Description}
			for _, kv := range s.Attributes() {
				said = append(said, kv.Value.String())
			}
			for _, e := range s.Events() {
				said = append(said, e.Name)
			}
			if all := strings.Join(said, "\n"); strings.Contains(all, canary) {
				t.Errorf("S15: the canary is in the span %s:\n%s", s.Name(), all)
			}
		}
		if len(w.spans.spans) == 0 {
			t.Error("there are no spans: this shows nothing")
		}
	})
}

// A suggestion ends what this process drives; the next one belongs to the same trace, and knows that the run
// failed before.
func TestSuggestionAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.runner(false, overloaded, answers)
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err == nil {
			t.Fatal("the run did not fail")
		}
		read := httptest.NewRecorder()
		w.telemetry.Handler().ServeHTTP(read, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		w.has(read.Body.String(), `mulligan_suggestions_open 1`)
		run, err = r.Recover(t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonRetry})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		metrics := w.close()
		want := `run overloaded failed false
  round 1
    chat small overloaded failed
    hook helper retry
run completed true
  round 1
    chat small answered
`
		if got := w.spans.tree(); got != want {
			t.Errorf("spans:\n%s\nwant:\n%s", got, want)
		}
		for _, s := range w.spans.spans {
			if s.SpanContext().TraceID() != w.spans.spans[0].SpanContext().TraceID() {
				t.Errorf("%s is of another trace", s.Name())
			}
		}
		w.has(metrics,
			`mulligan_runs_resumed_total 1`, `mulligan_runs_recovered_total 1`, `mulligan_suggestions_open 0`,
			`mulligan_suggestions_offered_total{action="retry"} 1`, `mulligan_suggestions_answered_total{action="retry"} 1`,
		)
	})
}

// A suggestion that has expired counts as open no longer, also before its run is closed.
func TestAnExpiredSuggestionIsNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		run, err := w.runner(false, overloaded).Start(t.Context(), runner.Request{Prompt: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err == nil {
			t.Fatal("the run did not fail")
		}
		for _, want := range []string{`mulligan_suggestions_open 1`, `mulligan_suggestions_open 0`} {
			read := httptest.NewRecorder()
			w.telemetry.Handler().ServeHTTP(read, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			w.has(read.Body.String(), want)
			time.Sleep(25 * time.Hour)
		}
		w.close()
	})
}

// A call that is cut short is a failed attempt, and what was chosen is counted.
func TestCallCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.runner(false, hangs, answers)
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		state, err := r.Inspect(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		call, _ := state.CutShort()
		if _, err := r.Recover(t.Context(), run.ID(), runner.Answer{Suggestion: call, Action: recovery.ButtonRetryNow}); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.has(w.close(),
			`mulligan_attempts_total{kind="timeout",model="acme/small",outcome="failed",provider="acme"} 1`,
			`mulligan_suggestions_answered_total{action="retry_now"} 1`, `mulligan_runs_recovered_total 1`,
		)
	})
}

// A run that this process lets go of has its spans, and its attempt is counted once, and not as a
// failure: by this process.
func TestLetGoAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, letGo := context.WithCancelCause(t.Context())
		run, err := w.runner(true, hangs).Start(ctx, runner.Request{Prompt: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		letGo(runner.ErrLetGo)
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
			t.Fatal(err)
		}
		run, err = w.runner(true, answers).Resume(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		metrics := w.close()
		want := `run running false
  round 1
    chat small let_go
run completed true
`
		if got := w.spans.tree(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "    chat small answered\n") {
			t.Errorf("spans:\n%s\nwant at first:\n%s", got, want)
		}
		w.has(metrics,
			`mulligan_attempts_total{kind="interrupted",model="acme/small",outcome="let_go",provider="acme"} 1`,
			`mulligan_attempts_total{kind="none",model="acme/small",outcome="answered",provider="acme"} 1`,
			`mulligan_runs_driven{status="running"} 0`,
		)
	})
}

// A run that is cancelled in the middle of an answer counts its attempt, too.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		run, err := w.runner(true, hangs).Start(t.Context(), runner.Request{Prompt: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		run.Cancel()
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
			t.Fatal(err)
		}
		w.has(w.close(),
			`mulligan_attempts_total{kind="none",model="acme/small",outcome="cancelled",provider="acme"} 1`,
			`mulligan_runs_ended_total{status="cancelled",stop_reason="cancelled"} 1`,
		)
	})
}

// However many names come out of requests and logs, metrics have few labels.
func TestLabelsAreFew(t *testing.T) {
	w := newWorld(t)
	run := &recovery.Run{}
	tell := func(b recovery.Body) {
		e := recovery.Event{Run: "r", Seq: run.Seq + 1, Body: b}
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		w.telemetry.Happened(run, e)
	}
	tell(recovery.Started{Model: "acme/small", Input: []llm.Message{llm.User("hello")}})
	for n := range uint64(200) {
		made := "m" + strings.Repeat("x", int(n))
		tell(recovery.Began{Attempt: n + 1, Round: 1, Model: "made/" + made})
		tell(recovery.Failed{Attempt: n + 1, Failure: failure.Failure{Kind: failure.Kind(made)}})
		tell(recovery.Voted{Occasion: run.Occasion(), Vote: recovery.Vote{Plugin: made, Action: recovery.Action(made)}})
		tell(recovery.Accepted{Suggestion: made, Action: made})
	}
	tell(recovery.Ended{Status: recovery.StatusFailed, StopReason: canary})
	metrics := w.close()
	w.has(metrics, `mulligan_attempts_total{kind="unknown",model="other",outcome="failed",provider="other"} 200`)
	if n := strings.Count(metrics, "\nmulligan_hook_duration_seconds_count{"); n > 33 {
		t.Errorf("votes have %d combinations of labels", n)
	}
	if n := strings.Count(metrics, "\nmulligan_suggestions_answered_total{"); n != 1 {
		t.Errorf("answers have %d labels", n)
	}
}

// If the collector does not answer, spans are dropped and no run waits.
func TestQueueDropsAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := stuck{make(chan struct{})}
		told, err := telemetry.New(t.Context(), telemetry.Config{Prometheus: true, Spans: stuck})
		if err != nil {
			t.Fatal(err)
		}
		const spans = 6000
		for range spans {
			run := &recovery.Run{}
			e := recovery.Event{Run: "r", Seq: 1, Body: recovery.Started{Model: "m"}}
			if err := run.Apply(e); err != nil {
				t.Fatal(err)
			}
			told.Happened(run, e)
			told.Left(run)
		}
		read := httptest.NewRecorder()
		told.Handler().ServeHTTP(read, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if want := `mulligan_telemetry_spans_dropped_total{reason="queue_full"} 1904`; !strings.Contains(read.Body.String(), want) {
			t.Errorf("there is no line %s in\n%s", want, only(read.Body.String(), "mulligan_"))
		}
		close(stuck.until)
		if err := told.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// stuck is an exporter that blocks until it is released.
type stuck struct{ until chan struct{} }

func (s stuck) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	<-s.until
	return nil
}

func (stuck) Shutdown(context.Context) error { return nil }

func TestFollowersAreCounted(t *testing.T) {
	w := newWorld(t)
	run, err := w.runner(true, answers).Start(t.Context(), runner.Request{Prompt: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range w.telemetry.Followed(w.log).Follow(t.Context(), run.ID(), 0) {
		read := httptest.NewRecorder()
		w.telemetry.Handler().ServeHTTP(read, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		w.has(read.Body.String(), `mulligan_followers 1`)
		break
	}
	w.has(w.close(), `mulligan_followers 0`)
}
