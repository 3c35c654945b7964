package autorecover_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	fable = "work/fable-1"
	quill = "work/quill-1"
	atlas = "home/atlas-1"
)

// input is the n-th failure in a row of one kind; alternatives are in order.
func input(kind failure.Kind, n int, alternatives ...string) autorecover.Input {
	in := autorecover.Input{
		Failure: *failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil),
		Model:   fable, Retries: n - 1, MaxRetries: 3, AutoRecover: true, Now: now,
	}
	for i := range n {
		in.Tried = append(in.Tried, recovery.Tried{Attempt: i, Model: fable, Code: kind.Code()})
	}
	for _, model := range alternatives {
		in.Alternatives = append(in.Alternatives, recovery.Alternative{Model: model})
	}
	return in
}

func decide(in autorecover.Input) recovery.Vote {
	return autorecover.Decide(autorecover.DefaultConfig(), in, 0)
}

// said is a vote in a word: retry, fail, or the model switched to.
func said(v recovery.Vote) string {
	if v.Action == recovery.ActionSwitchModel {
		return v.NewModel
	}
	return string(v.Action)
}

// Per kind: the first failure and the fourth, each with alternatives; the fourth
// without any, with autoRecover and without: the runner offers a retry that cannot
// help by itself.
var table = map[failure.Kind][4]string{
	failure.KindTimeout:           {"retry", quill, "retry", "retry"},
	failure.KindUnreachable:       {"retry", atlas, "retry", "retry"},
	failure.KindTLS:               {atlas, atlas, "retry", "retry"},
	failure.KindAuth:              {atlas, atlas, "retry", "retry"},
	failure.KindBilling:           {atlas, atlas, "retry", "retry"},
	failure.KindRateLimit:         {"retry", quill, "retry", "retry"},
	failure.KindQuota:             {atlas, atlas, "retry", "retry"},
	failure.KindOverloaded:        {"retry", quill, "retry", "retry"},
	failure.KindUnavailable:       {"retry", quill, "retry", "retry"},
	failure.KindStreamInterrupted: {"retry", quill, "retry", "retry"},
	failure.KindMalformedResponse: {"retry", quill, "retry", "retry"},
	failure.KindEmptyResponse:     {"retry", quill, "retry", "retry"},
	failure.KindContextOverflow:   {quill, quill, "fail", "fail"},
	failure.KindInvalidRequest:    {atlas, atlas, "fail", "fail"},
	failure.KindContentFilter:     {"", "", "retry", "retry"},
	failure.KindModelNotFound:     {quill, quill, "retry", "retry"},
	failure.KindOutputTruncated:   {"retry", quill, "retry", "retry"},
	failure.KindMisconfigured:     {atlas, atlas, "retry", "retry"},
	failure.KindToolFailure:       {"retry", "retry", "retry", "retry"},
	failure.KindStepTimeout:       {"retry", "retry", "retry", "retry"},
	failure.KindMaxTurnTime:       {"retry", "retry", "retry", "retry"},
	failure.KindRunTimeout:        {"retry", "retry", "retry", "retry"},
	failure.KindInterrupted:       {"retry", "retry", "retry", "retry"},
	failure.KindPromptFailure:     {"fail", "fail", "fail", "fail"},
	failure.KindInternal:          {"retry", "retry", "retry", "retry"},
	failure.KindBudget:            {"retry", "retry", "retry", "retry"},
	failure.KindRoundLimit:        {"retry", "retry", "retry", "retry"},
	failure.KindUnknown:           {"retry", quill, "retry", "retry"},
}

func TestEveryKind(t *testing.T) {
	for _, kind := range failure.Kinds() {
		want, ok := table[kind]
		if !ok {
			t.Errorf("%s: not in the table", kind)
			continue
		}
		offered := input(kind, 4)
		offered.AutoRecover = false
		for i, in := range []autorecover.Input{input(kind, 1, quill, atlas), input(kind, 4, quill, atlas), input(kind, 4), offered} {
			v := decide(in)
			if got := said(v); got != want[i] {
				t.Errorf("%s, case %d: %s, want %s", kind, i, got, want[i])
			}
			if v.Reason == "" || strings.Contains(v.Reason, string(kind)+" ") && strings.Contains(string(kind), "_") {
				t.Errorf("%s, case %d: reason %q", kind, i, v.Reason)
			}
		}
	}
}

func TestUnknownKindsAreTriedOnceIfRetryable(t *testing.T) {
	in := input("of_tomorrow", 1, quill)
	if got := said(decide(in)); got != "retry" {
		t.Errorf("retryable: %s", got)
	}
	in.Failure.Retryable = false
	if got := said(decide(in)); got != quill {
		t.Errorf("not retryable: %s", got)
	}
	if got := said(decide(input("of_tomorrow", 2, quill))); got != quill {
		t.Errorf("the second time: %s", got)
	}
}

// TestSilenceSwitchesAtOnce: a model that kept silent is not waited for again where another
// one is well, and only there.
func TestSilenceSwitchesAtOnce(t *testing.T) {
	for timer, want := range map[failure.Timer]string{
		failure.TimerConnect: quill, failure.TimerFirstEvent: quill, failure.TimerBytes: quill, failure.TimerIdle: quill,
		failure.TimerStep: "retry", "": "retry",
	} {
		in := input(failure.KindTimeout, 1, quill)
		in.Failure.Timer = timer
		if got := said(decide(in)); got != want {
			t.Errorf("%q: %s, want %s", timer, got, want)
		}
		in.Tried = append(in.Tried, recovery.Tried{Model: quill, Code: failure.CodeProviderTimeout})
		if got := said(decide(in)); got != "retry" {
			t.Errorf("%q, the other has failed, too: %s", timer, got)
		}
		in.Alternatives = nil
		if got := said(decide(in)); got != "retry" {
			t.Errorf("%q, there is no other: %s", timer, got)
		}
	}
}

// TestARefusalIsOffered: who is asked instead is a person's choice.
func TestARefusalIsOffered(t *testing.T) {
	in := input(failure.KindContentFilter, 1, quill, atlas)
	if got := said(decide(in)); got != "" {
		t.Errorf("with autoRecover: %s", got)
	}
	in.AutoRecover = false
	if got := said(decide(in)); got != atlas {
		t.Errorf("without: %s", got)
	}
}

func TestDelays(t *testing.T) {
	for n, want := range []failure.Millis{1000, 2000, 4000, 4000} {
		in := input(failure.KindUnavailable, n+1)
		in.MaxRetries = 10
		if v := decide(in); v.Delay != want {
			t.Errorf("retry %d after %d ms, want %d", n+1, v.Delay, want)
		}
		if v := autorecover.Decide(autorecover.DefaultConfig(), in, 0.999999); v.Delay < want*124/100 || v.Delay > want*125/100 {
			t.Errorf("retry %d with all jitter after %d ms", n+1, v.Delay)
		}
	}
	if v := decide(input(failure.KindInterrupted, 1)); v.Delay != 0 {
		t.Errorf("interrupted: after %d ms", v.Delay)
	}
}

func TestALongRetryAfterRotates(t *testing.T) {
	in := input(failure.KindRateLimit, 1, atlas)
	in.Failure.RetryAfter = 61_000
	if got := said(decide(in)); got != atlas {
		t.Errorf("with an alternative: %s", got)
	}
	in.Alternatives = nil
	if v := decide(in); v.Action != recovery.ActionRetry || v.Delay != 61_000 {
		t.Errorf("without: %+v", v)
	}
	in.Failure.ResetsAt = now.Add(5 * time.Hour)
	if v := decide(in); v.Action != recovery.ActionRetry || v.Delay.Duration() != 5*time.Hour {
		t.Errorf("with a reset: %+v", v)
	}
}

func TestIdleBreakerRotates(t *testing.T) {
	in := input(failure.KindTimeout, 1, atlas)
	in.IdleBreaker = true
	if got := said(decide(in)); got != atlas {
		t.Errorf("got %s", got)
	}
}

func TestToolsNeverSwitchTheModel(t *testing.T) {
	in := input(failure.KindTimeout, 4, atlas)
	in.Failure.Origin = failure.OriginTool
	if got := said(decide(in)); got != "retry" {
		t.Errorf("got %s", got)
	}
}

func TestNoPingPong(t *testing.T) {
	in := input(failure.KindOverloaded, 4, quill, atlas)
	in.Tried = append(in.Tried, recovery.Tried{Model: quill, Code: failure.CodeProviderUnavailable})
	if got := said(decide(in)); got != atlas {
		t.Errorf("an untried one is left: %s", got)
	}
	in.Alternatives = in.Alternatives[:1]
	if v := decide(in); said(v) != quill || !strings.Contains(v.Reason, "failed earlier") {
		t.Errorf("nothing else is left: %+v", v)
	}
	in.Tried[4].Code = failure.CodeProviderAuth
	if got := said(decide(in)); got != "retry" {
		t.Errorf("the other failed for good: %s", got)
	}
}

func TestOverflowTakesTheLargestContext(t *testing.T) {
	in := input(failure.KindContextOverflow, 1, quill, atlas)
	in.Alternatives[1].ContextTokens = 1_000_000
	if got := said(decide(in)); got != atlas {
		t.Errorf("got %s", got)
	}
}

// TestOverflowIsShortened: where no model takes more, the conversation gets shorter, twice.
func TestOverflowIsShortened(t *testing.T) {
	for n, want := range map[int]bool{1: true, 2: true, 3: false} {
		if v := decide(input(failure.KindContextOverflow, n)); v.Adjust.Compact != want || (v.Action == recovery.ActionRetry) != want {
			t.Errorf("failure %d: %+v", n, v)
		}
	}
}

func TestOutputTruncatedAsksForMore(t *testing.T) {
	if v := decide(input(failure.KindOutputTruncated, 1)); v.Adjust.MaxOutputTokens < 8192 {
		t.Errorf("adjust: %+v", v.Adjust)
	}
}

func TestReasonsAreForPeople(t *testing.T) {
	v := decide(input(failure.KindOverloaded, 4, atlas))
	if want := "fable-1 is overloaded after 3 retries; atlas-1 has not failed"; v.Reason != want {
		t.Errorf("%q, want %q", v.Reason, want)
	}
}

func TestConfiguredSwitching(t *testing.T) {
	c := autorecover.DefaultConfig()
	c.AfterRetries, c.Prefer = 0, []string{atlas}
	in := input(failure.KindOverloaded, 1, quill, atlas)
	if got := said(autorecover.Decide(c, in, 0)); got != atlas {
		t.Errorf("at once, preferred: %s", got)
	}
	c.Switch = false
	if got := said(autorecover.Decide(c, in, 0)); got != "retry" {
		t.Errorf("switched off: %s", got)
	}
}

// Whatever comes in, the vote is one that counts: a bounded delay that keeps to the
// provider's demand, and a switch only to another one of the alternatives.
func TestVotesAlwaysCount(t *testing.T) {
	models := []string{fable, quill, atlas, "", "plain"}
	rapid.Check(t, func(t *rapid.T) {
		in := input(rapid.SampledFrom(append(failure.Kinds(), "of_tomorrow")).Draw(t, "kind"), rapid.IntRange(0, 7).Draw(t, "n"))
		in.Model = rapid.SampledFrom(models).Draw(t, "model")
		in.Retries = rapid.IntRange(0, 7).Draw(t, "retries")
		in.AutoRecover, in.IdleBreaker = rapid.Bool().Draw(t, "auto"), rapid.Bool().Draw(t, "idle")
		in.Failure.RetryAfter = failure.Millis(rapid.Int64().Draw(t, "retry after"))
		if rapid.Bool().Draw(t, "resets") {
			in.Failure.ResetsAt = now.Add(time.Duration(rapid.Int64().Draw(t, "reset")))
		}
		for _, model := range rapid.SliceOfN(rapid.SampledFrom(models), 0, 4).Draw(t, "alternatives") {
			in.Alternatives = append(in.Alternatives, recovery.Alternative{Model: model, ContextTokens: rapid.Int64Min(0).Draw(t, "context")})
		}
		v := autorecover.Decide(autorecover.DefaultConfig(), in, rapid.Float64Range(0, 0.999).Draw(t, "jitter"))
		if v.Delay < 0 || v.Delay > failure.MaxDelay {
			t.Fatalf("delay of %d ms", v.Delay)
		}
		if v.Reason == "" || len(v.Reason) > 500 || !utf8.ValidString(v.Reason) {
			t.Fatalf("reason %q", v.Reason)
		}
		switch v.Action {
		case recovery.ActionRetry:
			if v.Delay < min(in.Failure.RetryAfter, failure.MaxDelay) {
				t.Fatalf("after %d ms, asked for %d", v.Delay, in.Failure.RetryAfter)
			}
		case recovery.ActionSwitchModel:
			offered := false
			for _, a := range in.Alternatives {
				offered = offered || a.Model == v.NewModel
			}
			if v.NewModel == in.Model || !offered {
				t.Fatalf("switch from %q to %q", in.Model, v.NewModel)
			}
		case recovery.ActionFail:
		case recovery.ActionNone:
			if in.Failure.Kind != failure.KindContentFilter {
				t.Fatalf("no opinion on %s", in.Failure.Kind)
			}
		default:
			t.Fatalf("action %q", v.Action)
		}
	})
}
