package telemetry

import (
	"context"
	"iter"

	"github.com/mulligan-run/mulligan/timeline"
)

// followed is a log whose followers are counted.
type followed struct {
	timeline.Log
	t *Telemetry
}

// Followed wraps log to count the clients that follow it.
func (t *Telemetry) Followed(log timeline.Log) timeline.Log { return followed{log, t} }

// Check implements timeline.Checker.
func (f followed) Check(ctx context.Context) error { return timeline.CheckOf(ctx, f.Log) }

// Follow counts the follower until it leaves.
func (f followed) Follow(ctx context.Context, run string, after uint64) iter.Seq2[timeline.Item, error] {
	return func(yield func(timeline.Item, error) bool) {
		f.t.meters.followers.Add(ctx, 1)
		defer f.t.meters.followers.Add(ctx, -1)
		f.Log.Follow(ctx, run, after)(yield)
	}
}
