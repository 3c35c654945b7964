package health_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
)

func tokens(n int64) recovery.Budget { return recovery.Budget{Tokens: n} }

func TestReservedThenSpent(t *testing.T) {
	h := health.New()
	limit := recovery.Budget{Tokens: 100, Microdollars: 500}
	if spent, lacks := h.Reserve(start, recovery.Budget{Tokens: 60, Microdollars: 100}, limit); lacks != "" || spent != (recovery.Budget{}) {
		t.Fatalf("%+v, %q", spent, lacks)
	}
	if spent, lacks := h.Reserve(start, tokens(41), limit); lacks != "tokens" || spent.Tokens != 60 {
		t.Errorf("%+v, %q", spent, lacks)
	}
	h.Spend(start, recovery.Budget{Tokens: -20, Microdollars: 400})
	if got := h.Spent(start); got != (recovery.Budget{Tokens: 40, Microdollars: 500}) {
		t.Errorf("spent %+v", got)
	}
	if _, lacks := h.Reserve(start, tokens(1), limit); lacks != "money" {
		t.Errorf("lacks %q", lacks)
	}
	h.Spend(start, tokens(-1000))
	if got := h.Spent(start); got.Tokens != 0 {
		t.Errorf("less than nothing: %+v", got)
	}
	if _, lacks := h.Reserve(start, tokens(1<<40), recovery.Budget{}); lacks != "" {
		t.Errorf("without a limit it lacks %q", lacks)
	}
}

func TestADayIsOverAtMidnight(t *testing.T) {
	h := health.New()
	h.Spend(start, tokens(90))
	tomorrow := health.New().Tomorrow(start)
	if got := h.Spent(tomorrow.Add(-time.Second)); got.Tokens != 90 {
		t.Errorf("before midnight: %+v", got)
	}
	if got := h.Spent(tomorrow); got.Tokens != 0 {
		t.Errorf("at midnight: %+v", got)
	}
	h.Spend(tomorrow, tokens(5))
	h.Spend(start, tokens(1)) // a call that began before midnight
	if before, after := h.Spent(start), h.Spent(tomorrow); before.Tokens != 91 || after.Tokens != 5 {
		t.Errorf("spent %+v, then %+v", before, after)
	}
	h.Spend(tomorrow.AddDate(0, 0, 7), tokens(1))
	if got := h.Spent(start); got.Tokens != 0 {
		t.Errorf("remembered for ever: %+v", got)
	}
}

// TestTomorrow holds on every day of years in which clocks are put forward and back, also
// where that is done at midnight.
func TestTomorrow(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/Havana", "Asia/Beirut", "Pacific/Apia", "Australia/Lord_Howe"} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for at := time.Date(2011, 1, 1, 0, 30, 0, 0, time.UTC).In(place); at.Year() < 2013; at = at.Add(7 * time.Hour) {
			next := health.NextDay(at)
			if !next.After(at) || next.Sub(at) > 26*time.Hour || next.Add(-time.Second).YearDay() == next.YearDay() {
				t.Fatalf("after %s comes %s", at, next)
			}
		}
	}
}

func TestTheDayIsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "health.json")
	a, b := open(t, path), open(t, path)
	limit := tokens(100)
	if _, lacks := a.Reserve(start, tokens(60), limit); lacks != "" {
		t.Fatalf("a lacks %q", lacks)
	}
	if spent, lacks := b.Reserve(start, tokens(60), limit); lacks != "tokens" || spent.Tokens != 60 {
		t.Errorf("b: %+v, %q", spent, lacks)
	}
	a.Spend(start, tokens(-30))
	if _, lacks := b.Reserve(start, tokens(60), limit); lacks != "" {
		t.Errorf("b lacks %q once a used less", lacks)
	}
	a.Failed("acme/x", failureOf(failure.KindOverloaded), start)
	for name, h := range map[string]*health.Health{"a": a, "b": b, "a later one": open(t, path)} {
		if got := h.Spent(start); got.Tokens != 90 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestNobodyExceedsTheDay has many reserve at once, through files of their own.
func TestNobodyExceedsTheDay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "health.json")
	var wg sync.WaitGroup
	for range 4 {
		h := open(t, path)
		for range 4 {
			wg.Go(func() {
				for range 10 {
					h.Reserve(start, tokens(7), tokens(100))
				}
			})
		}
	}
	wg.Wait()
	if got := open(t, path).Spent(start); got.Tokens != 98 {
		t.Errorf("%d of 100 are reserved", got.Tokens)
	}
}

// TestSpendingSurvivesTroubleWithTheFile holds two who share a file, which is out of reach
// now and then, against the plain sum.
func TestSpendingSurvivesTroubleWithTheFile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(t.TempDir(), "state")
		path := filepath.Join(dir, "health.json")
		both := []*health.Health{open(t, path), open(t, path)}
		away, sum := false, int64(0)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			if rapid.IntRange(0, 3).Draw(rt, "turn") == 0 {
				from, to := dir, dir+".away"
				if away {
					from, to = to, from
				}
				if err := os.Rename(from, to); err != nil {
					rt.Fatal(err)
				}
				away = !away
			}
			n := rapid.Int64Range(1, 50).Draw(rt, "tokens")
			both[rapid.IntRange(0, 1).Draw(rt, "who")].Spend(start, tokens(n))
			sum += n
		}
		if away {
			if err := os.Rename(dir+".away", dir); err != nil {
				rt.Fatal(err)
			}
		}
		for _, h := range both {
			h.Spend(start, tokens(1))
			sum++
		}
		if got := open(t, path).Spent(start); got.Tokens != sum {
			rt.Fatalf("%d of %d are remembered", got.Tokens, sum)
		}
	})
}

func TestBadSpendingIsCorrupt(t *testing.T) {
	for _, spent := range []string{`{"today":{"tokens":1}}`, `{"2026-03-01":{"tokens":-1}}`, `[]`} {
		path := filepath.Join(t.TempDir(), "health.json")
		if err := os.WriteFile(path, []byte(`{"version":1,"cooldowns":{},"spent":`+spent+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		h := open(t, path)
		if _, err := os.Stat(path + ".corrupt"); err != nil {
			t.Errorf("%s: %v", spent, err)
		}
		h.Spend(start, tokens(1))
		if got := open(t, path).Spent(start); got.Tokens != 1 {
			t.Errorf("afterwards: %+v", got)
		}
	}
}
