package health_test

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func failureOf(kind failure.Kind) failure.Failure {
	return *failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
}

func TestScopes(t *testing.T) {
	one := map[failure.Kind]bool{failure.KindRateLimit: true, failure.KindOverloaded: true, failure.KindModelNotFound: true}
	entry := map[failure.Kind]bool{failure.KindQuota: true, failure.KindAuth: true, failure.KindBilling: true}
	for _, kind := range append(failure.Kinds(), "of_tomorrow") {
		h := health.New()
		h.Failed("acme/fable-1", failureOf(kind), start)
		_, same := h.Cooling("acme/fable-1", start)
		_, sibling := h.Cooling("acme/fable-2", start)
		_, other := h.Cooling("acme-home/fable-1", start)
		if same != (one[kind] || entry[kind]) || sibling != entry[kind] || other {
			t.Errorf("%s: same model %v, sibling %v, other entry %v", kind, same, sibling, other)
		}
	}
}

func TestOurOwnTimersNeverCool(t *testing.T) {
	h := health.New()
	f := failureOf(failure.KindOverloaded)
	f.Timer = failure.TimerIdle
	h.Failed("acme/fable-1", f, start)
	if c, ok := h.Cooling("acme/fable-1", start); ok {
		t.Errorf("cooling: %+v", c)
	}
}

func TestDoublesUpToAnHourAndResets(t *testing.T) {
	h := health.New()
	at := start
	for _, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		h.Failed("acme/fable-1", failureOf(failure.KindRateLimit), at)
		c, _ := h.Cooling("acme/fable-1", at)
		if got := c.Until.Sub(at); got != want {
			t.Fatalf("cooldown of %v, want %v", got, want)
		}
		at = c.Until
		if _, ok := h.Cooling("acme/fable-1", at); ok {
			t.Fatal("still cooling at its end")
		}
	}
	h.Succeeded("acme/fable-1")
	h.Failed("acme/fable-1", failureOf(failure.KindRateLimit), at)
	if c, _ := h.Cooling("acme/fable-1", at); c.Until.Sub(at) != 30*time.Second {
		t.Errorf("after a success: %v", c.Until.Sub(at))
	}
}

// A call and its retries, or all that were on their way at once, fail of one cause.
func TestFailuresTogetherAreOne(t *testing.T) {
	h := health.New()
	for i := range 1000 {
		h.Failed("acme/fable-1", failureOf(failure.KindOverloaded), start.Add(time.Duration(i)*time.Millisecond))
	}
	c, _ := h.Cooling("acme/fable-1", start)
	if got := c.Until.Sub(start); got != 30*time.Second+999*time.Millisecond {
		t.Errorf("a cooldown of %v", got)
	}
	h.Failed("acme/fable-1", failureOf(failure.KindOverloaded), c.Until)
	if again, _ := h.Cooling("acme/fable-1", c.Until); again.Until.Sub(c.Until) != time.Minute {
		t.Errorf("the next one: %v", again.Until.Sub(c.Until))
	}
}

func TestSuccessResetsTheEntryToo(t *testing.T) {
	h := health.New()
	h.Failed("acme/fable-1", failureOf(failure.KindAuth), start)
	h.Failed("acme/fable-2", failureOf(failure.KindOverloaded), start)
	h.Succeeded("acme/fable-1")
	all := h.All(start)
	if len(all) != 1 || all[0].Model != "acme/fable-2" {
		t.Errorf("left: %+v", all)
	}
}

// TestAQuotaGoesOnForItsModels: when another model of the entry answers, the quota was not the
// entry's; that of the models that named it is not over for all that.
func TestAQuotaGoesOnForItsModels(t *testing.T) {
	h := health.New()
	quota := failureOf(failure.KindQuota)
	quota.ResetsAt = start.Add(3 * time.Hour)
	h.Failed("acme/fable-1", quota, start)
	for model, beside := range map[string]bool{"acme/fable-1": false, "acme/fable-2": true} {
		if c, cooling := h.Cooling(model, start); !cooling || c.Beside != beside || !c.Until.Equal(quota.ResetsAt) {
			t.Errorf("%s before: %+v %v", model, c, cooling)
		}
	}
	if all := h.All(start); len(all) != 1 || all[0].Model != "acme" {
		t.Errorf("it is said of %+v", all)
	}

	h.Succeeded("acme/fable-2")
	if c, cooling := h.Cooling("acme/fable-1", start); !cooling || c.Beside || !c.Until.Equal(quota.ResetsAt) {
		t.Errorf("the model whose quota is used up: %+v %v", c, cooling)
	}
	for _, model := range []string{"acme/fable-2", "acme/fable-3"} {
		if c, cooling := h.Cooling(model, start); cooling {
			t.Errorf("%s is cooling: %+v", model, c)
		}
	}
	if all := h.All(start); len(all) != 1 || all[0].Model != "acme/fable-1" {
		t.Errorf("left: %+v", all)
	}

	h.Succeeded("acme/fable-1") // a person asked it all the same
	if all := h.All(start); len(all) != 0 {
		t.Errorf("at the end: %+v", all)
	}
}

// TestAnEnginesQuota: the same of the provider that an engine asks.
func TestAnEnginesQuota(t *testing.T) {
	h := health.New()
	quota := failureOf(failure.KindQuota)
	quota.Provider = "anthropic"
	h.Failed("pi/anthropic/a", quota, start)
	h.Succeeded("pi/anthropic/b")
	if _, cooling := h.Cooling("pi/anthropic/a", start); !cooling {
		t.Error("the quota is forgotten")
	}
	if _, cooling := h.Cooling("pi/anthropic/c", start); cooling {
		t.Error("the provider is cooling")
	}
}

func TestAllNamesScopesInOrder(t *testing.T) {
	h := health.New()
	h.Failed("b/x", failureOf(failure.KindQuota), start)
	h.Failed("a/y", failureOf(failure.KindOverloaded), start)
	all := h.All(start)
	if len(all) != 2 || all[0].Model != "a/y" || all[1].Model != "b" || all[1].Kind != failure.KindQuota {
		t.Errorf("all: %+v", all)
	}
	if late := h.All(start.Add(time.Hour)); len(late) != 0 {
		t.Errorf("an hour later: %+v", late)
	}
}

// What the provider asks for is honoured, and no further failure, in whatever
// order its time comes in, brings the end nearer.
func TestNeverShortened(t *testing.T) {
	kinds := []failure.Kind{
		failure.KindRateLimit, failure.KindOverloaded, failure.KindModelNotFound,
		failure.KindQuota, failure.KindAuth, failure.KindBilling, failure.KindUnknown,
	}
	const month = 30 * 24 * 3600
	rapid.Check(t, func(t *rapid.T) {
		h := health.New()
		model := "acme/fable-1"
		var until time.Time
		for range rapid.IntRange(1, 12).Draw(t, "failures") {
			at := start.Add(time.Duration(rapid.IntRange(-3600, 3600).Draw(t, "at")) * time.Second)
			f := failureOf(rapid.SampledFrom(kinds).Draw(t, "kind"))
			f.RetryAfter = failure.Millis(1000 * rapid.IntRange(0, month).Draw(t, "retry after"))
			if rapid.Bool().Draw(t, "resets") {
				f.ResetsAt = at.Add(time.Duration(rapid.IntRange(-month, month).Draw(t, "reset")) * time.Second)
			}
			h.Failed(model, f, at)
			c, cooling := h.Cooling(model, start.Add(-2*time.Hour))
			if c.Until.Before(until) {
				t.Fatalf("shortened from %v to %v", until, c.Until)
			}
			until = c.Until
			if !cooling || f.Kind == failure.KindUnknown {
				continue
			}
			if until.Before(at.Add(f.RetryAfter.Duration())) || until.Before(f.ResetsAt) {
				t.Fatalf("ends at %v, before %+v allows", until, f)
			}
		}
		h.Succeeded(model)
		if c, ok := h.Cooling(model, start.Add(-2*time.Hour)); ok {
			t.Fatalf("cooling after a success: %+v", c)
		}
	})
}

// An engine asks providers of its own: what one of them refuses says nothing of the others.
func TestEnginesProviders(t *testing.T) {
	h := health.New()
	f := failureOf(failure.KindAuth)
	f.Provider = "anthropic"
	h.Failed("pi/anthropic/a", f, start)
	for model, want := range map[string]bool{"pi/anthropic/a": true, "pi/anthropic/b": true, "pi/openai/a": false, "anthropic/a": false} {
		if _, cooling := h.Cooling(model, start); cooling != want {
			t.Errorf("%s is cooling: %v", model, cooling)
		}
	}
	h.Succeeded("pi/anthropic/b")
	if all := h.All(start); len(all) > 0 {
		t.Errorf("after a success: %+v", all)
	}
	f.Provider = "openrouter"
	h.Failed("openrouter/anthropic/a", f, start)
	if _, cooling := h.Cooling("openrouter/openai/a", start); !cooling {
		t.Error("one account is taken for two")
	}
	h.Succeeded("openrouter/openai/a")
	h.Failed("openrouter/openrouter/auto", f, start) // a model of OpenRouter's own has its name twice
	if _, cooling := h.Cooling("openrouter/openai/a", start); !cooling {
		t.Error("a model that has its entry's name is taken for an engine's")
	}
}

// A model is no engine's provider, though another model's name may begin with its own.
func TestAModelsNameIsNoProvider(t *testing.T) {
	h := health.New()
	f := failureOf(failure.KindRateLimit)
	f.Provider = "proxy"
	h.Failed("proxy/anthropic", f, start)
	if c, cooling := h.Cooling("proxy/anthropic/a", start); cooling {
		t.Errorf("another model is cooling: %+v", c)
	}
	h.Succeeded("proxy/anthropic/a")
	if _, cooling := h.Cooling("proxy/anthropic", start); !cooling {
		t.Error("another model's success ended the cooldown")
	}
	f = failureOf(failure.KindAuth)
	f.Provider = "anthropic"
	h.Failed("pi/anthropic/a", f, start)
	if all := h.All(start); len(all) != 2 || all[0].Model != "pi/anthropic" {
		t.Errorf("the list has %+v", all)
	}
}

func TestAbsurdDemandsAreBounded(t *testing.T) {
	h := health.New()
	f := failureOf(failure.KindQuota)
	f.RetryAfter, f.ResetsAt = 1<<62, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	h.Failed("acme/x", f, start)
	if c, ok := h.Cooling("acme/x", start); !ok || c.Until.Sub(start) > 32*24*time.Hour {
		t.Errorf("cooling %v until %v", ok, c.Until)
	}
}

func TestConcurrentUse(t *testing.T) {
	shared, err := health.Open(t.TempDir() + "/health.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*health.Health{health.New(), shared} {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := range 20 {
					h.Failed("acme/x", failureOf(failure.KindOverloaded), start)
					h.Cooling("acme/x", start.Add(time.Duration(i)*time.Second))
					h.All(start)
					h.Succeeded("acme/y")
				}
			})
		}
		wg.Wait()
		if _, ok := h.Cooling("acme/x", start); !ok {
			t.Error("not cooling")
		}
	}
}
