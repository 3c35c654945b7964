package timeline

import (
	"sync"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// How far a follower may fall behind before it loses live deltas. A single item is never too much.
const (
	MaxBehind      = 256     // items
	maxBehindBytes = 1 << 20 // of their contents, approximately
)

// eventSize is how many bytes an event counts towards maxBehindBytes, in addition to its texts.
const eventSize = 1024

// listener is one follower, of a run's events or of its inbox.
type listener struct {
	wake  chan struct{} // of capacity 1
	inbox bool

	mu     sync.Mutex
	queue  []Item
	bytes  int
	stale  bool // the source has more than the queue
	behind bool // a queue was dropped
}

// push queues item. A queue that grows too long is dropped, and its events are read from the source
// later.
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

// look makes the listener read the source.
func (l *listener) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = true
	l.signal()
}

// take gives the queue. It also says whether the source has more, and whether a queue was dropped
// since the last take.
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

// sizeOf is about how many bytes item takes when it is sent.
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

// said is how many bytes of text and images messages hold.
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
