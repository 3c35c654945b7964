package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

const (
	manyDue = 10_000
	fewDue  = 500
)

// BenchmarkDuePostgres is how long two members take to claim in bulk 10,000 runs that are due at
// once, and how many that is per second, compared with one member that claims them one by one.
func BenchmarkDuePostgres(b *testing.B) {
	d := newDue(b)
	var all spans
	var bulk, single rate
	for b.Loop() {
		d.make(b, manyDue)
		all.time(func() { bulk.time(manyDue, func() { d.claimAll(b) }) })
		d.make(b, fewDue)
		single.time(fewDue, func() { d.claimEach(b) })
	}
	all.report(b, "")
	bulk.report(b, "")
	single.report(b, base)
}

// BenchmarkMemberPostgres is how long the heartbeat takes of a member with 10,000 runs, whose
// leases it renews, compared with that of a member without runs.
func BenchmarkMemberPostgres(b *testing.B) {
	d := newDue(b)
	d.make(b, manyDue)
	for got := 1; got > 0; {
		got = d.claim(b, 0)
	}
	var full, empty spans
	for b.Loop() {
		full.time(func() { d.join(b, 0) })
		empty.time(func() { d.join(b, 1) })
	}
	full.report(b, "")
	empty.report(b, base)
}

// due is two members that share a database, and a connection to it that belongs to neither.
type due struct {
	members [2]*timeline.Journal
	conn    *pgx.Conn
}

func newDue(b *testing.B) *due {
	b.Helper()
	address := pgtest.Durable(b)
	d := &due{}
	for i := range d.members {
		store, err := postgres.Open(b.Context(), address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		d.members[i] = store
		d.join(b, i)
	}
	var err error
	if d.conn, err = pgx.Connect(b.Context(), address); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.conn.Close(context.Background()) })
	return d
}

func (d *due) join(b *testing.B, i int) {
	b.Helper()
	members := d.members[i].StandsOn().(timeline.Members)
	if err := members.Join(b.Context(), timeline.Member{Name: fmt.Sprint("member-", i)}, time.Hour); err != nil {
		b.Fatal(err)
	}
}

// make makes so many runs due, without an owner, and no others.
func (d *due) make(b *testing.B, runs int) {
	b.Helper()
	if _, err := d.conn.Exec(b.Context(), "TRUNCATE mulligan.runs"); err != nil {
		b.Fatal(err)
	}
	if _, err := d.conn.Exec(b.Context(), `INSERT INTO mulligan.runs (run, epoch, owner, member, expires, seq, status, due_at, due_from)
		SELECT 'r' || n, 1, '', '', clock_timestamp(), 1, 'running', 1000 + n, 1000 FROM generate_series(1, $1::int) AS n`, runs); err != nil {
		b.Fatal(err)
	}
}

// claim has a member claim runs in bulk once, as many as serve does.
func (d *due) claim(b *testing.B, i int) (got int) {
	b.Helper()
	const bulk = 250
	claimed, _, err := d.members[i].ClaimDue(b.Context(), fmt.Sprint("member-", i), time.Hour, time.Now(), false, nil, bulk)
	if err != nil {
		b.Error(err)
	}
	return len(claimed)
}

// claimAll has both members claim until nothing is left. No run may be claimed by both.
func (d *due) claimAll(b *testing.B) {
	b.Helper()
	var each [len(d.members)]int
	var all sync.WaitGroup
	for i := range d.members {
		all.Go(func() {
			for got := 1; got > 0; each[i] += got {
				got = d.claim(b, i)
			}
		})
	}
	all.Wait()
	if sum := each[0] + each[1]; sum != manyDue {
		b.Fatalf("%v were claimed", each)
	}
}

// claimEach has a member claim the due runs one by one.
func (d *due) claimEach(b *testing.B) {
	b.Helper()
	list, err := d.members[0].List(b.Context(), timeline.Query{Due: time.Now(), Limit: fewDue})
	if err != nil || len(list) != fewDue {
		b.Fatalf("%d are due, %v", len(list), err)
	}
	for _, s := range list {
		if _, err := d.members[0].Claim(b.Context(), s.Run, "member-0", time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}
