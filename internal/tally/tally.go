package tally

import (
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// most is how many models, and how many plugins, are counted separately.
const most = 200

// Tally counts. It is safe for concurrent use.
type Tally struct {
	began    time.Time
	tomorrow func(time.Time) time.Time

	mu      sync.Mutex
	models  map[string]*model
	plugins map[string]*window
	driven  map[string]*driven // by run
	day     time.Time          // when the day ends whose spending is counted
}

// driven is what is known about a run while it is driven here.
type driven struct {
	call    *call // in progress
	summary *call // that shortens the conversation
	shadows shadows
}

// call is a model call in progress.
type call struct {
	model string
	spent recovery.Budget // by its run before it began
}

// New makes a Tally that begins to count now; tomorrow returns when the day after a time
// begins.
func New(now time.Time, tomorrow func(time.Time) time.Time) *Tally {
	return &Tally{began: now, tomorrow: tomorrow, models: map[string]*model{}, plugins: map[string]*window{}, driven: map[string]*driven{}}
}

// Since is how far back the counts at that time reach: 24 hours, or less if the process is younger.
func (t *Tally) Since(now time.Time) time.Time { return since(t.began, now) }

// Happened implements runner.Observer.
func (t *Tally) Happened(run *recovery.Run, e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Began:
		t.with(e, func(d *driven) { d.call = t.begin(b.Model, run.Spent.Minus(b.Reserve)) })
	case recovery.Answered:
		t.with(e, func(d *driven) { t.answered(d, run, e.Time, b) })
	case recovery.Failed:
		if b.Attempt != 0 {
			t.with(e, func(d *driven) { t.failed(d, run, e.Time, b.Failure) })
		}
	case recovery.Compacting:
		t.with(e, func(d *driven) { d.summary = &call{b.Model, run.Spent.Minus(b.Reserve)} })
	case recovery.Compacted:
		t.with(e, func(d *driven) { t.summed(d, run, e.Time) })
	case recovery.Voted:
		t.with(e, func(d *driven) { t.voted(d, e.Time, b) })
	case recovery.Decided:
		t.with(e, func(d *driven) { t.decided(d, run, e.Time, b) })
	case recovery.Ended:
		t.with(e, func(d *driven) { t.callEnded(d) })
	default: // frequent, or nothing that is counted
	}
}

// Left implements runner.Observer.
func (t *Tally) Left(run *recovery.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.driven[run.ID]; d != nil {
		t.callEnded(d)
		delete(t.driven, run.ID)
	}
}

func (t *Tally) with(e recovery.Event, do func(*driven)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.driven[e.Run]
	if d == nil {
		d = &driven{}
		t.driven[e.Run] = d
	}
	do(d)
}

// kindOf is a known kind, so that a log cannot create any number of them.
func kindOf(k failure.Kind) string {
	if k.Known() {
		return string(k)
	}
	return string(failure.KindUnknown)
}

// oldest is the name whose last count is the longest ago.
func oldest[T any](all map[string]T, at func(T) time.Time) (name string) {
	var when time.Time
	for n, v := range all {
		if name == "" || at(v).Before(when) {
			name, when = n, at(v)
		}
	}
	return name
}
