package timeline_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

// TestWriteBehindIsALog: for runs that it does not write behind it behaves like the log beneath it.
func TestWriteBehindIsALog(t *testing.T) {
	timelinetest.Run(t, func(t *testing.T) timeline.Log {
		w := timeline.NewWriteBehind(timeline.NewMemory(), func(recovery.Started) bool { return false })
		t.Cleanup(func() { _ = w.Close() })
		return w
	})
}

// fullLog is a log that accepts no run.
type fullLog struct{ timeline.Log }

func (fullLog) Check(context.Context) error { return timeline.ErrFull }

// TestWhoIsWrittenBehindCanBeAsked: a store that accepts no run says so through what stands before
// it.
func TestWhoIsWrittenBehindCanBeAsked(t *testing.T) {
	for _, log := range []timeline.Log{timeline.NewMemory(), fullLog{timeline.NewMemory()}} {
		w := timeline.NewWriteBehind(log, func(recovery.Started) bool { return true })
		_, full := log.(fullLog)
		if err := timeline.CheckOf(t.Context(), w); errors.Is(err, timeline.ErrFull) != full || (err != nil) != full {
			t.Errorf("full %t: %v", full, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// behind is a log that writes every run behind, over one that fails as it is told to.
type behind struct {
	*testing.T
	*timeline.WriteBehind
	store *timelinetest.Faulty
}

func testBehind(t *testing.T, test func(b *behind)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := timelinetest.NewFaulty(timeline.NewMemory(), func(int) timelinetest.Fault { return timelinetest.Fault{} })
		b := &behind{t, timeline.NewWriteBehind(store, func(recovery.Started) bool { return true }), store}
		defer func() { _ = b.Close() }()
		test(b)
	})
}

func note(run string, seq uint64, body recovery.Body) recovery.Event {
	return recovery.Event{Run: run, Seq: seq, Time: time.Now(), Body: body}
}

// begin begins a run.
func (b *behind) begin(run string) (timeline.Lease, error) {
	return b.Begin(b.Context(), run, "o", time.Minute, func(timeline.Lease) []recovery.Event {
		return []recovery.Event{note(run, 1, recovery.Started{Model: "a/one"})}
	})
}

// begun is a run that began.
func (b *behind) begun(run string) timeline.Lease {
	b.Helper()
	l, err := b.begin(run)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func (b *behind) append(l timeline.Lease, seq uint64, body recovery.Body) error {
	return b.Append(b.Context(), l, seq-1, note(l.Run, seq, body))
}

func (b *behind) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// durable checks that the store has so many events of a run, without waiting for any.
func (b *behind) durable(run string, want int) {
	b.Helper()
	events, err := b.store.Log.Read(b.Context(), run, 0, 0)
	if err != nil && !errors.Is(err, timeline.ErrNotFound) || len(events) != want {
		b.Fatalf("%d events of %s are durable, want %d (%v)", len(events), run, want, err)
	}
	for i, e := range events {
		if e.Seq != uint64(i)+1 { //nolint:gosec // small
			b.Fatalf("event %d is at %d", e.Seq, i)
		}
	}
}

// TestWritesBehind: an append returns at once, is durable in one write a moment later, and nobody
// sees it before (I31).
func TestWritesBehind(t *testing.T) {
	testBehind(t, func(b *behind) {
		seen := make(chan uint64, 8)
		l := b.begun("r")
		go func() {
			for item, err := range b.Follow(b.Context(), "r", 0) {
				if err == nil {
					seen <- item.Event.Seq
				}
			}
			close(seen)
		}()
		synctest.Wait() // it has the run written, to follow it
		b.durable("r", 1)
		b.must(b.append(l, 2, recovery.Claimed{Owner: "o", Epoch: 1}))
		b.must(b.append(l, 3, recovery.Ended{Status: recovery.StatusCompleted}))
		b.must(b.Release(b.Context(), l))
		synctest.Wait()
		if b.durable("r", 1); len(seen) != 1 {
			b.Fatalf("%d events are seen before they are durable", len(seen))
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if b.durable("r", 3); b.store.Appends() != 2 {
			b.Errorf("%d writes", b.store.Appends())
		}
		for want := uint64(1); want <= 3; want++ {
			if seq := <-seen; seq != want {
				b.Errorf("event %d is seen where %d should be", seq, want)
			}
		}
		if _, ok := <-seen; ok {
			b.Error("the run goes on after its end")
		}
		if _, err := b.store.Log.Claim(b.Context(), "r", "another", time.Second); err != nil {
			b.Errorf("it was not released: %v", err)
		}
	})
}

// TestI20WhatActsIsDurable: an event that answers somebody, or that an effect follows from, is
// durable before its append returns, with all earlier events.
func TestI20WhatActsIsDurable(t *testing.T) {
	testBehind(t, func(b *behind) {
		l, seq := b.begun("r"), uint64(1)
		for _, body := range []recovery.Body{
			recovery.Decided{}, recovery.Suggested{}, recovery.Waiting{}, recovery.Accepted{Suggestion: "s"},
		} {
			b.must(b.append(l, seq+1, recovery.Noted{Topic: "x"}))
			b.must(b.append(l, seq+2, body))
			seq += 2
			b.durable("r", int(seq)) //nolint:gosec // small
		}
		e := note("r", seq+1, recovery.CancelRequested{})
		e.Inbox = 1
		b.must(b.Append(b.Context(), l, seq, e))
		b.durable("r", int(seq)+1) //nolint:gosec // small
		b.must(b.append(l, seq+2, recovery.Noted{Topic: "x"}))
		if _, err := b.Send(b.Context(), "r", timeline.Command{ID: "c", Body: recovery.CancelRequested{}}); err != nil {
			b.Error(err)
		}
		b.durable("r", int(seq)+2) //nolint:gosec // small
	})
}

// TestAStoreThatDoesNotWrite: its runs get the error with their next append, and new runs at once;
// all continue when it writes again, and nothing is lost or written twice, also if the store did
// write what it said it had not.
func TestAStoreThatDoesNotWrite(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("it is there all the same: %t", after), func(t *testing.T) {
			testBehind(t, func(b *behind) {
				full := &timeline.StoreError{File: "x", Kind: timeline.ErrFull, Reason: "no space left on device", Err: syscall.ENOSPC}
				l := b.begun("r")
				time.Sleep(60 * time.Millisecond)
				b.store.Break(timelinetest.Fault{Err: full, After: after})
				b.must(b.append(l, 2, recovery.Noted{Topic: "x"}))
				time.Sleep(60 * time.Millisecond)
				if err := b.append(l, 3, recovery.Noted{Topic: "x"}); !errors.Is(err, timeline.ErrFull) {
					b.Errorf("the run's next append: %v", err)
				}
				if _, err := b.begin("other"); !errors.Is(err, timeline.ErrFull) || !timeline.MayPass(err) {
					b.Errorf("a new run: %v", err)
				}
				b.store.Break(timelinetest.Fault{})
				time.Sleep(2 * time.Second)
				b.must(b.append(l, 3, recovery.Noted{Topic: "x"}))
				b.begun("other")
				b.must(b.Flush(b.Context()))
				b.durable("r", 3)
				b.durable("other", 1)
			})
		})
	}
}

// TestARunDoesNotWaitForEver: a run whose store does not write for long stops, since its caller
// waits.
func TestARunDoesNotWaitForEver(t *testing.T) {
	testBehind(t, func(b *behind) {
		l := b.begun("r")
		b.store.Break(timelinetest.Fault{Err: &timeline.StoreError{File: "x", Kind: timeline.ErrDisk, Reason: "EIO"}})
		time.Sleep(60 * time.Millisecond)
		if err := b.append(l, 2, recovery.Noted{Topic: "x"}); !errors.Is(err, timeline.ErrDisk) || !timeline.MayPass(err) {
			b.Errorf("at first: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := b.append(l, 2, recovery.Noted{Topic: "x"}); !errors.Is(err, timeline.ErrDisk) || timeline.MayPass(err) {
			b.Errorf("after 2 s: %v", err)
		}
		b.store.Break(timelinetest.Fault{})
		b.must(b.Release(b.Context(), l))
		b.must(b.Flush(b.Context()))
		b.durable("r", 1)
	})
}

// TestAnOwnerThatIsLate: a run that another owner has claimed accepts nothing more, and delays no
// other run.
func TestAnOwnerThatIsLate(t *testing.T) {
	testBehind(t, func(b *behind) {
		l := b.begun("r")
		b.must(b.Flush(b.Context()))
		b.must(b.store.Release(b.Context(), l))
		if _, err := b.store.Log.Claim(b.Context(), "r", "another", time.Minute); err != nil {
			b.Fatal(err)
		}
		b.must(b.append(l, 2, recovery.Noted{Topic: "x"}))
		time.Sleep(60 * time.Millisecond)
		if err := b.append(l, 3, recovery.Noted{Topic: "x"}); !errors.Is(err, timeline.ErrStale) {
			b.Error(err)
		}
		b.must(b.Release(b.Context(), l))
		b.begun("other")
		b.must(b.Flush(b.Context()))
		b.durable("r", 1)
		b.durable("other", 1)
	})
}

// TestNoMoreThanFits: the events that are not yet durable are bounded, and an append beyond that
// waits.
func TestNoMoreThanFits(t *testing.T) {
	testBehind(t, func(b *behind) {
		l := b.begun("r")
		b.must(b.Flush(b.Context()))
		b.store.Break(timelinetest.Fault{Pause: time.Second})
		text := llm.User(string(make([]byte, 5<<20)))
		asked := func(run string) error {
			_, err := b.Begin(b.Context(), run, "o", time.Minute, func(timeline.Lease) []recovery.Event {
				return []recovery.Event{note(run, 1, recovery.Started{Model: "a/one", Input: []llm.Message{text}})}
			})
			return err
		}
		for i := range 3 {
			b.must(asked(fmt.Sprint("large", i)))
		}
		began := time.Now()
		b.must(asked("one too many"))
		if took := time.Since(began); took < time.Second {
			b.Errorf("it waited %s", took)
		}
		ctx, cancel := context.WithTimeout(b.Context(), time.Millisecond)
		defer cancel()
		e := note("r", 2, recovery.Answered{Message: text})
		b.must(b.Append(b.Context(), l, 1, e))
		e.Seq = 3
		var err error
		for ; err == nil; e.Seq++ {
			err = b.Append(ctx, l, e.Seq-1, e)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			b.Error(err)
		}
	})
}

// TestClosingLosesNothing: all appended events are durable once the log is closed.
func TestClosingLosesNothing(t *testing.T) {
	testBehind(t, func(b *behind) {
		memory := b.store.Log
		for i := range 1000 {
			l := b.begun(fmt.Sprint("r", i))
			b.must(b.append(l, 2, recovery.Ended{Status: recovery.StatusCompleted}))
		}
		b.store.Log = open{memory}
		b.must(b.Close())
		for i := range 1000 {
			events, err := memory.Read(b.Context(), fmt.Sprint("r", i), 0, 0)
			if len(events) != 2 {
				b.Fatalf("r%d: %d events, %v", i, len(events), err)
			}
		}
		b.must(memory.Close())
	})
}

// open is a log that others still read when it was closed.
type open struct{ timeline.Log }

func (open) Close() error { return nil }

// inBulk is a log that gives one run to whoever asks for many.
type inBulk struct{ timeline.Log }

func (inBulk) ClaimDue(_ context.Context, owner string, _ time.Duration, _ time.Time, _ bool, _ recovery.Labels, limit int, but ...string) ([]timeline.Claimed, bool, error) {
	return []timeline.Claimed{{Lease: timeline.Lease{Run: fmt.Sprint(limit, but), Owner: owner, Epoch: 2}}}, true, nil
}

// TestWriteBehindClaimsInBulk: it gives many runs at once if the log does that it stands on.
func TestWriteBehindClaimsInBulk(t *testing.T) {
	for _, log := range []timeline.Log{inBulk{timeline.NewMemory()}, timeline.NewMemory()} {
		w := timeline.NewWriteBehind(log, func(recovery.Started) bool { return true })
		_, bulk := log.(inBulk)
		claimed, can, err := w.ClaimDue(t.Context(), "me", time.Minute, time.Now(), false, nil, 7, "r1")
		if err != nil || can != bulk || bulk && (len(claimed) != 1 || claimed[0].Lease.Run != "7 [r1]" || claimed[0].Lease.Owner != "me") {
			t.Errorf("in bulk %t: %+v, %t, %v", bulk, claimed, can, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
