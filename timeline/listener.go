package timeline

import (
	"sync"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// How far a follower may fall behind before it loses live deltas. One item alone is never
// too many.
const (
	MaxBehind      = 256     // items
	maxBehindBytes = 1 << 20 // of what they say, about
)

// eventSize is what an event counts towards maxBehindBytes beside what somebody said in it.
const eventSize = 1024

// listener is one follower, of a run's events or of its inbox.
type listener struct {
	wake  chan struct{} // of capacity 1
	inbox bool

	mu     sync.Mutex
	queue  []Item
	bytes  int
	stale  bool // there is more in the source than in the queue
	behind bool // a queue was given up
}

// push queues item; a queue that grows too long is given up, and its events are
// read from the source later.
func (l *listener) push(item Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == MaxBehind || len(l.queue) > 0 && l.bytes+item.size > maxBehindBytes {
		l.queue, l.bytes, l.stale, l.behind = nil, 0, true, true
	}
	l.queue = append(l.queue, item)
	l.bytes += item.size
	l.signal()
}

// look has the listener read the source.
func (l *listener) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = true
	l.signal()
}

// take is what was queued, whether there is more in the source, and whether some was given
// up, since the last take.
func (l *listener) take() (queue []Item, stale, behind bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, stale, behind = l.queue, l.stale, l.behind
	l.queue, l.bytes, l.stale, l.behind = nil, 0, false, false
	return queue, stale, behind
}

func (l *listener) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// sizeOf is about how many bytes it takes to say item.
func sizeOf(item Item) int {
	switch {
	case item.Delta != nil:
		return len(item.Delta.Text)
	case item.Notice != nil:
		return len(item.Notice.Text)
	}
	size := eventSize
	switch b := item.Event.Body.(type) {
	case recovery.Started:
		size += len(b.System) + said(b.Input...)
	case recovery.Failed:
		size += len(b.Text)
	case recovery.CancelRequested:
		size += len(b.Text)
	case recovery.Answered:
		size += said(b.Message)
	case recovery.ToolReturned:
		size += len(b.Result.Text)
	case recovery.Compacted:
		size += said(b.Messages...)
	}
	return size
}

// said is how many bytes of text and pictures messages hold.
func said(messages ...llm.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Thinking != nil {
				n += len(p.Thinking.Text)
			}
			if p.Image != nil {
				n += len(p.Image.Data)
			}
			if p.Call != nil {
				n += len(p.Call.Args)
			}
			if p.Result != nil {
				n += len(p.Result.Text)
			}
		}
	}
	return n
}
