package bench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// BenchmarkElsewhere is how long it takes from the append of a durable event until a follower in
// another process has it. "polled-" is the same through a connection pooler, which passes on no
// notifications.
func BenchmarkElsewhere(b *testing.B) {
	rung, polled := newElsewhere(b, ""), newElsewhere(b, "&default_query_exec_mode=exec")
	for b.Loop() {
		time.Sleep(rand.N(30 * time.Millisecond))
		rung.once(b)
		polled.once(b)
	}
	rung.took.report(b, "")
	polled.took.report(b, "polled-")
}

// elsewhere is a run that is followed through another store than its owner's.
type elsewhere struct {
	owner timeline.Log
	lease timeline.Lease
	seq   uint64
	heard chan uint64
	took  spans
}

func newElsewhere(b *testing.B, parameters string) *elsewhere {
	b.Helper()
	address := pgtest.Durable(b) + parameters
	stores := make([]timeline.Log, 2)
	for i := range stores {
		log, err := postgres.Open(b.Context(), address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = log.Close() })
		stores[i] = log
	}
	e := &elsewhere{owner: stores[0], heard: make(chan uint64)}
	var err error
	if e.lease, err = e.owner.Claim(b.Context(), "r", "bench", time.Hour); err != nil {
		b.Fatal(err)
	}
	e.append(b)
	go func() {
		for item, err := range stores[1].Follow(b.Context(), "r", 0) {
			if err != nil {
				b.Error(err)
				return
			}
			e.heard <- item.Event.Seq
		}
	}()
	<-e.heard
	return e
}

func (e *elsewhere) append(b *testing.B) {
	b.Helper()
	e.seq++
	body := recovery.Noted{Topic: "progress"}
	if err := e.owner.Append(b.Context(), e.lease, e.seq-1, recovery.Event{Run: "r", Seq: e.seq, Time: time.Now().UTC(), Body: body}); err != nil {
		b.Fatal(err)
	}
}

func (e *elsewhere) once(b *testing.B) {
	b.Helper()
	e.took.time(func() {
		e.append(b)
		if seq := <-e.heard; seq != e.seq {
			b.Fatalf("heard event %d, want %d", seq, e.seq)
		}
	})
}
