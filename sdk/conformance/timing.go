package conformance

import (
	"context"
	"slices"
	"time"
)

// Timing is how quick a plugin is.
type Timing struct {
	ColdStarts []time.Duration // from the start of the process until it is configured, in order of size
	Calls      int             // one after the other, without a pause
	P50, P99   time.Duration   // of a call
}

// How much is measured, at most.
const (
	timedStarts = 3
	timedCalls  = 1000
	timedWithin = 3 * time.Second
)

// timing measures a plugin that is known to be well; nil if it could not be.
func (e Exam) timing(ctx context.Context) *Timing {
	if !e.wants(TopicBounds, "timing") || ctx.Err() != nil {
		return nil
	}
	t := &Timing{}
	for range timedStarts {
		began := time.Now()
		err := configured(ctx, e.Command, true, func(p *Plugin) error {
			t.ColdStarts = append(t.ColdStarts, time.Since(began))
			if len(t.ColdStarts) == timedStarts {
				t.measure(ctx, p)
			}
			return nil
		})
		if err != nil {
			return nil
		}
	}
	slices.Sort(t.ColdStarts)
	if t.Calls == 0 {
		return nil
	}
	return t
}

func (t *Timing) measure(ctx context.Context, p *Plugin) {
	var took []time.Duration
	for end := time.Now().Add(timedWithin); len(took) < timedCalls && time.Now().Before(end); {
		began := time.Now()
		if _, err := p.service.RunError(ctx, ordinary()); unanswered(err) {
			break
		}
		took = append(took, time.Since(began))
	}
	if t.Calls = len(took); t.Calls > 0 {
		slices.Sort(took)
		t.P50, t.P99 = took[len(took)/2], took[len(took)*99/100]
	}
}
