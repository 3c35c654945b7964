package bench

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/peers"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

const (
	liveRuns  = 20
	liveStamp = 19                    // digits of a time in nanoseconds
	livePace  = time.Millisecond      // between two deltas of a run, so 20,000 per second of all runs
	liveCome  = 10 * time.Millisecond // between two polls of what has arrived
)

// BenchmarkElsewhereLive is how long a live delta, one of 20,000 per second from 20 runs, takes to
// a follower at another member.
func BenchmarkElsewhereLive(b *testing.B) {
	address := pgtest.Durable(b)
	here, there := newLiveMember(b, address), newLiveMember(b, address)
	var heard lags
	for i := range liveRuns {
		run := "r" + strconv.Itoa(i)
		lease, err := here.Claim(b.Context(), run, "bench", time.Hour)
		if err == nil {
			err = here.Append(b.Context(), lease, 0, recovery.Event{Run: run, Seq: 1, Time: time.Now().UTC(), Body: recovery.Began{Attempt: 1}})
		}
		if err != nil {
			b.Fatal(err)
		}
		go heard.listen(b, there, run)
	}
	said := make([]int, liveRuns)
	say := func() {
		for i := range liveRuns {
			here.Publish("r"+strconv.Itoa(i), timeline.Delta{Attempt: 1, Offset: said[i], Text: fmt.Sprint(time.Now().UnixNano())})
			said[i] += liveStamp
		}
	}
	for !heard.all() { // until something of each run has arrived
		say()
		time.Sleep(liveCome)
	}
	heard.forget()
	for b.Loop() {
		say()
		time.Sleep(livePace)
	}
	b.StopTimer()
	heard.mu.Lock()
	defer heard.mu.Unlock()
	heard.took.report(b, "")
}

// lags are the delays of the deltas that have arrived.
type lags struct {
	mu   sync.Mutex
	took spans
	runs map[string]bool
}

func (l *lags) listen(b *testing.B, at timeline.Log, run string) {
	b.Helper()
	for item, err := range at.Follow(b.Context(), run, 0) {
		if err != nil {
			b.Error(err)
			return
		}
		if item.Delta != nil {
			l.take(run, item.Delta.Text, time.Now())
		}
	}
}

// take records the delay of each stamp in a piece.
func (l *lags) take(run, text string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = map[string]bool{}
	}
	l.runs[run] = true
	for ; len(text) >= liveStamp; text = text[liveStamp:] {
		if sent, err := strconv.ParseInt(text[:liveStamp], 10, 64); err == nil {
			l.took = append(l.took, now.Sub(time.Unix(0, sent)))
		}
	}
}

func (l *lags) all() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.runs) == liveRuns
}

func (l *lags) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = nil
}

// newLiveMember is a member that sends live deltas to other members, and receives theirs.
func newLiveMember(b *testing.B, address string) *timeline.Journal {
	b.Helper()
	journal, err := postgres.Open(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	store := journal.StandsOn().(timeline.Members)
	p, err := peers.Listen(b.Context(), "127.0.0.1:0", journal, store.Members, slog.New(slog.DiscardHandler))
	if err == nil {
		err = store.Join(b.Context(), timeline.Member{Name: "bench", Live: p.Address(), Seal: p.Seal()}, time.Hour)
	}
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	b.Cleanup(func() {
		stop()
		running.Wait()
		_ = journal.Close()
	})
	return journal
}
