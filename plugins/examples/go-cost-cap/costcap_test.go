package main

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

const settings = `{"dollars": 2, "tokens": 1000, "prices": {"a/plain": 10, "a/dear": 25, "b/same": 10, "b/cheap": 1}}`

// failed is an overloaded a/plain of whose budget of $2 so many dollars are left.
func failed(dollars float64, alternatives ...string) plugin.Event {
	return plugin.Event{
		Kind: failure.KindOverloaded, Failure: failure.Failure{Kind: failure.KindOverloaded, Retryable: true},
		Model: "a/plain", Alternatives: alternatives, MaxRetries: 3,
		Remaining: recovery.Budget{Microdollars: int64(dollars * 1e6)},
	}
}

// with changes an event.
func with(e plugin.Event, change func(*plugin.Event)) plugin.Event {
	change(&e)
	return e
}

func retriesUsedUp(e *plugin.Event) { e.Retries = e.MaxRetries }

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		event plugin.Event
		want  plugin.Decision
	}{
		"much is left":          {failed(1.01, "a/dear"), plugin.None},
		"half is spent":         {failed(1, "a/dear"), plugin.Retry(time.Second).Because("$1.00 of $2.00 spent: no dearer model")},
		"nothing dearer":        {failed(0.5, "b/cheap", "b/same"), plugin.None},
		"no other model":        {failed(0.5), plugin.None},
		"a price is missing":    {failed(0.5, "b/cheap", "c/secret"), plugin.Retry(time.Second).Because("$1.50 of $2.00 spent: no dearer model")},
		"no budget":             {failed(0, "a/dear"), plugin.None},
		"a person extended it":  {failed(3.9, "a/dear"), plugin.None},
		"the third retry waits": {with(failed(1, "a/dear"), func(e *plugin.Event) { e.Retries = 2 }), plugin.Retry(4 * time.Second).Because("$1.00 of $2.00 spent: no dearer model")},
		"the provider's wait": {
			with(failed(1, "a/dear"), func(e *plugin.Event) { e.RetryAfter = 30 * time.Second }),
			plugin.Retry(30 * time.Second).Because("$1.00 of $2.00 spent: no dearer model"),
		},
		"too long a wait": {
			with(failed(1, "a/dear", "b/cheap"), func(e *plugin.Event) { e.RetryAfter = time.Hour }),
			plugin.Switch("b/cheap", "$1.00 of $2.00 spent: the cheapest model"),
		},
		"the cheapest": {
			with(failed(0.5, "a/dear", "b/same", "b/cheap"), retriesUsedUp),
			plugin.Switch("b/cheap", "$1.50 of $2.00 spent: the cheapest model"),
		},
		"as dear is not dearer": {
			with(failed(0.5, "a/dear", "b/same"), retriesUsedUp),
			plugin.Switch("b/same", "$1.50 of $2.00 spent: the cheapest model"),
		},
		"only dearer ones": {
			with(failed(0.5, "a/dear"), retriesUsedUp),
			plugin.Fail("$1.50 of $2.00 spent, and every other model is dearer"),
		},
		"a tool's failure": {with(failed(0.5, "a/dear"), func(e *plugin.Event) { e.Kind = failure.KindToolFailure }), plugin.None},
		"tokens": {
			with(failed(2, "a/dear"), func(e *plugin.Event) { e.Remaining.Tokens = 400 }),
			plugin.Retry(time.Second).Because("600 of 1000 tokens spent: no dearer model"),
		},
		"no money": {
			with(failed(0, "b/cheap"), func(e *plugin.Event) { e.Remaining.Microdollars = -1 }),
			plugin.Fail("The run's budget is used up: $2.00 of $2.00 spent"),
		},
		"no tokens": {
			with(failed(1.9, "b/cheap"), func(e *plugin.Event) { e.Remaining.Tokens = -1 }),
			plugin.Fail("The run's budget is used up: 1000 of 1000 tokens spent"),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &costCap{}
			if err := c.configure([]byte(settings)); err != nil {
				t.Fatal(err)
			}
			if got := c.decide(tt.event); !equal(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func equal(a, b plugin.Decision) bool {
	return a.Action == b.Action && a.Delay == b.Delay && a.NewModel == b.NewModel && a.Reason == b.Reason
}

// The sum of a budget that the settings do not have is not known.
func TestAnotherBudgetIsUsedUp(t *testing.T) {
	c := &costCap{}
	if err := c.configure([]byte(`{"tokens": 1000, "prices": {}}`)); err != nil {
		t.Fatal(err)
	}
	e := plugin.Event{Remaining: recovery.Budget{Tokens: 400, Microdollars: -1}}
	if got, want := c.decide(e), plugin.Fail("The run's budget is used up"); !equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestConfigureNeedsPrices(t *testing.T) {
	if err := (&costCap{}).configure(nil); err == nil {
		t.Error("no configuration is taken")
	}
}
