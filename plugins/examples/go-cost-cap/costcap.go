package main

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// maxWait is the longest wait for the same model before the cheapest other one is
// asked.
const maxWait = time.Minute

// ours are failures that do not depend on the model, so that another one changes
// nothing.
var ours = []failure.Kind{
	failure.KindToolFailure, failure.KindInterrupted, failure.KindStepTimeout, failure.KindMaxTurnTime,
	failure.KindRunTimeout, failure.KindPromptFailure, failure.KindInternal,
}

// costCap is the policy and its settings.
type costCap struct{ config atomic.Pointer[config] }

// decide has an opinion only if the next plugin could overspend: when a budget is used
// up, and when much of it is spent and the run could be switched to a dearer model.
func (c *costCap) decide(e plugin.Event) plugin.Decision {
	config := c.config.Load()
	share, sum := config.spent(e.Remaining)
	if e.Remaining.Microdollars < 0 || e.Remaining.Tokens < 0 {
		if share < 1 { // of the tokens or dollars that are not configured
			return plugin.Fail("The run's budget is used up")
		}
		return plugin.Fail("The run's budget is used up: " + sum)
	}
	cheapest, dearest := config.extremes(e)
	tempting := config.price(dearest) > config.price(e.Model)
	switch {
	case share < config.DearUntil || !tempting || slices.Contains(ours, e.Kind):
		return plugin.None
	case e.Failure.Retryable && e.Retries < e.MaxRetries && e.RetryAfter <= maxWait:
		return plugin.Retry(max(e.RetryAfter, time.Second<<min(e.Retries, 5))).Because(sum + ": no dearer model")
	case config.price(cheapest) <= config.price(e.Model):
		return plugin.Switch(cheapest, sum+": the cheapest model")
	}
	return plugin.Fail(sum + ", and every other model is dearer")
}

// extremes returns the cheapest and the dearest alternative; of equals, the preferred
// one. Without alternatives both are the model that failed.
func (c *config) extremes(e plugin.Event) (cheapest, dearest string) {
	if len(e.Alternatives) == 0 {
		return e.Model, e.Model
	}
	byPrice := slices.SortedStableFunc(slices.Values(e.Alternatives), func(a, b string) int {
		return cmp.Compare(c.price(a), c.price(b))
	})
	return byPrice[0], byPrice[len(byPrice)-1]
}
