package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

func share(t *testing.T, store health.Store) *health.Health {
	t.Helper()
	h, err := health.Share(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func fails(kind failure.Kind) failure.Failure { return failure.Failure{Kind: kind} }

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestHealthIsShared: a cooldown of one machine is another's within a second or so, without its
// asking, and so is its end; failures in a row are counted by all.
func TestHealthIsShared(t *testing.T) {
	url := pgtest.Database(t)
	a, b := share(t, open(t, url)), share(t, open(t, url))
	a.Failed("acme/x", fails(failure.KindOverloaded), time.Now())
	until(t, "b knows of it", func() bool { _, cooling := b.Cooling("acme/x", time.Now()); return cooling })
	first, _ := a.Cooling("acme/x", time.Now())
	if second, _ := b.Cooling("acme/x", time.Now()); second.Until.Sub(first.Until).Abs() > time.Second || second.Kind != failure.KindOverloaded {
		t.Errorf("a says %+v, b says %+v", first, second)
	}
	over := first.Until.Add(time.Second)
	b.Failed("acme/x", fails(failure.KindOverloaded), over)
	if twice, _ := b.Cooling("acme/x", over); twice.Until.Sub(over) < 59*time.Second {
		t.Errorf("the second failure in a row cools until %s after %s", twice.Until, over)
	}
	b.Succeeded("acme/x")
	until(t, "a knows that it is well", func() bool { _, cooling := a.Cooling("acme/x", over); return !cooling })
}

// TestHealthGoesByTheDatabasesClock: whatever this machine's clock says.
func TestHealthGoesByTheDatabasesClock(t *testing.T) {
	store := open(t, pgtest.Database(t))
	h := share(t, store)
	if err := store.Close(); err != nil { // or it would ask what the time is
		t.Fatal(err)
	}
	store.clock.heard(time.Now().Add(time.Hour), time.Now())
	near(t, h.Now(), time.Now().Add(time.Hour))
}

// TestCooldownRace: of many who fail at once none shortens another's, and nobody's is lost.
func TestCooldownRace(t *testing.T) {
	url := pgtest.Database(t)
	machines := []*health.Health{share(t, open(t, url)), share(t, open(t, url)), share(t, open(t, url))}
	at := time.Now()
	var all sync.WaitGroup
	for i := range 12 {
		f := fails(failure.KindRateLimit)
		f.RetryAfter = failure.Millis((i + 1) * 60_000)
		all.Go(func() { machines[i%len(machines)].Failed("acme/x", f, at) })
	}
	all.Wait()
	for i, h := range machines {
		list := h.All(time.Now())
		if len(list) != 1 || list[0].Until.Sub(at) < 12*time.Minute-time.Second {
			t.Errorf("machine %d: %+v", i, list)
		}
	}
}

// TestTheDayIsOne: what machines spend together never exceeds the day's budget, and what was
// reserved and not used is there for all.
func TestTheDayIsOne(t *testing.T) {
	url := pgtest.Database(t)
	a, b := share(t, open(t, url)), share(t, open(t, url))
	at, limit := time.Now(), recovery.Budget{Tokens: 1000, Microdollars: 9_000_000}
	var granted atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			h := []*health.Health{a, b}[i%2]
			if _, lacks := h.Reserve(at, recovery.Budget{Tokens: 60, Microdollars: 1}, limit); lacks == "" {
				granted.Add(1)
			} else if lacks != "tokens" {
				t.Errorf("it lacks %q", lacks)
			}
		})
	}
	all.Wait()
	if granted.Load() != 16 {
		t.Errorf("%d of 16 times 60 were granted", granted.Load())
	}
	a.Spend(at, recovery.Budget{Tokens: -500, Microdollars: -100})
	if spent := b.Spent(at); spent != (recovery.Budget{Tokens: 460}) {
		t.Errorf("b says %+v", spent)
	}
	if spent, lacks := b.Reserve(at, recovery.Budget{Tokens: 540}, limit); lacks != "" || spent.Tokens != 460 {
		t.Errorf("%+v, lacks %q", spent, lacks)
	}
	if spent, lacks := a.Reserve(at, recovery.Budget{}, limit); lacks != "tokens" || spent.Tokens != 1000 {
		t.Errorf("of a day that is used up: %+v, lacks %q", spent, lacks)
	}
}

// TestTheDayIsTheDatabases: its zone says when a day begins, whatever a machine's is.
func TestTheDayIsTheDatabases(t *testing.T) {
	t.Setenv("PGTZ", "America/New_York")
	url := pgtest.Database(t)
	do(t, url, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Pacific/Kiritimati''', current_database()); END $$`)
	defer do(t, url, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET timezone', current_database()); END $$`)
	h := share(t, open(t, url))
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 23, 30, 0, 0, zone)
	h.Spend(at, recovery.Budget{Tokens: 5})
	h.Spend(at.Add(time.Hour), recovery.Budget{Tokens: 7})
	if before, after := h.Spent(at), h.Spent(at.Add(time.Hour)); before.Tokens != 5 || after.Tokens != 7 {
		t.Errorf("%+v, then %+v", before, after)
	}
	if got := h.Tomorrow(at); !got.Equal(at.Add(30 * time.Minute)) {
		t.Errorf("the next day begins at %s", got.In(zone))
	}
}

// silent is a store that may not answer.
type silent struct {
	health.Store
	broken atomic.Bool
}

var errSilent = errors.New("the database is away")

func (s *silent) Look(ctx context.Context) (health.Known, error) {
	if s.broken.Load() {
		return health.Known{}, errSilent
	}
	return s.Store.Look(ctx)
}

func (s *silent) Cool(ctx context.Context, scope string, c health.Cooldown) (bool, error) {
	if s.broken.Load() {
		return false, errSilent
	}
	return s.Store.Cool(ctx, scope, c)
}

func (s *silent) Reserve(ctx context.Context, day string, reserve, limit recovery.Budget) (recovery.Budget, bool, error) {
	if s.broken.Load() {
		return recovery.Budget{}, false, errSilent
	}
	return s.Store.Reserve(ctx, day, reserve, limit)
}

// TestHealthWithoutAStore: while the database does not answer, what is known is kept in memory,
// and what was spent meanwhile is counted later, once.
func TestHealthWithoutAStore(t *testing.T) {
	url := pgtest.Database(t)
	away := &silent{Store: open(t, url)}
	h, other := share(t, away), share(t, open(t, url))
	at, limit := time.Now(), recovery.Budget{Tokens: 100}
	h.Reserve(at, recovery.Budget{Tokens: 50}, limit)
	away.broken.Store(true)
	h.Failed("acme/x", fails(failure.KindOverloaded), at)
	if _, cooling := h.Cooling("acme/x", at); !cooling {
		t.Error("it is not known here that the model cools down")
	}
	if _, lacks := h.Reserve(at, recovery.Budget{Tokens: 60}, limit); lacks != "tokens" {
		t.Errorf("what is known to exceed the day lacks %q", lacks)
	}
	if _, lacks := h.Reserve(at, recovery.Budget{Tokens: 40}, limit); lacks != "" {
		t.Errorf("it lacks %q", lacks)
	}
	if spent := h.Spent(at); spent.Tokens != 90 {
		t.Errorf("here %+v", spent)
	}
	away.broken.Store(false)
	until(t, "the others know what was spent", func() bool { return other.Spent(at).Tokens == 90 })
	if _, cooling := h.Cooling("acme/x", at); !cooling {
		t.Error("the cooldown is forgotten")
	}
	if spent := h.Spent(at); spent.Tokens != 90 {
		t.Errorf("here %+v", spent)
	}
}

func BenchmarkReserve(b *testing.B) {
	h, err := health.Share(b.Context(), open(b, pgtest.Database(b)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(32) // 64 on two processors
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, lacks := h.Reserve(time.Now(), recovery.Budget{Tokens: 1}, recovery.Budget{Tokens: 1 << 40}); lacks != "" {
				panic(fmt.Sprint("it lacks ", lacks))
			}
		}
	})
}
