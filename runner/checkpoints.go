package runner

import (
	"sync/atomic"
	"time"
)

const (
	checkpointBytes   = 4 << 10
	checkpointEvery   = 250 * time.Millisecond
	checkpointSeldom  = 2 * time.Second // however many stream
	checkpointStreams = 50              // that may each be checkpointed as often as checkpointEvery
)

// checkpoints say how often the text of attempts is made durable: at most every 250 ms or
// 4 KiB. Where more than 50 stream at a time each has its turn less often, down to every
// 2 s: the disk and those who follow have as much to do with 400 of them as with 50, and a
// crash costs each a few lines of an answer that is asked for again.
type checkpoints struct{ streams atomic.Int64 }

// every is the least time between two of an attempt.
func (c *checkpoints) every() time.Duration {
	return min(max(checkpointEvery, checkpointEvery*time.Duration(c.streams.Load())/checkpointStreams), checkpointSeldom)
}

// begin counts an attempt that streams, until end.
func (c *checkpoints) begin() (end func()) {
	c.streams.Add(1)
	return func() { c.streams.Add(-1) }
}
