package rules

import (
	"fmt"
	"math"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// retryAction asks the same model again, with a pause of after × backoff^n before the
// n-th retry of that model (from 0), but no longer than most.
type retryAction struct {
	after   time.Duration
	backoff float64 // 1 to 10
	jitter  bool    // up to a quarter longer, at random
	most    time.Duration
}

// defaultRetry has the values for what a rule leaves out.
var defaultRetry = retryAction{after: time.Second, backoff: 2, jitter: true, most: time.Minute}

// jitterShare is how much longer jitter may make a pause, as a fraction of it.
const jitterShare = 0.25

func (a retryAction) decide(f *Facts, jitter float64) (recovery.Vote, bool) {
	delay := float64(a.after) * math.Pow(a.backoff, float64(f.failuresOfModel()))
	if a.jitter {
		delay *= 1 + jitterShare*jitter
	}
	return recovery.Vote{
		Action: recovery.ActionRetry,
		Delay:  failure.InMillis(time.Duration(min(delay, float64(a.most)))),
	}, true
}

// failuresOfModel counts the model's earlier failures during this call.
func (f *Facts) failuresOfModel() int {
	n := 0
	for _, t := range f.Tried {
		if t.Model == f.Model {
			n++
		}
	}
	return max(0, n-1)
}

func (a retryAction) String() string {
	text := "retry after " + short(a.after)
	if a.after == 0 {
		return "retry at once"
	}
	if a.backoff != 1 {
		text += fmt.Sprintf(", ×%v, at most %s", a.backoff, short(a.most))
	}
	if a.jitter {
		text += ", with jitter"
	}
	return text
}

// failAction gives up.
type failAction struct{}

func (failAction) decide(*Facts, float64) (recovery.Vote, bool) {
	return recovery.Vote{Action: recovery.ActionFail}, true
}

func (failAction) String() string { return "fail" }
