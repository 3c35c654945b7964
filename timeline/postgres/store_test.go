package postgres

import (
	"os"
	"testing"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// opened is a store with its journal, through which all is done that a journal does.
type opened struct {
	*timeline.Journal
	inner
}

type inner struct {
	*Store
	url string
}

func open(t testing.TB, address string) opened {
	t.Helper()
	s, err := openStore(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	j := timeline.NewJournal(s)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened{j, inner{s, address}}
}

func TestPrimitives(t *testing.T) {
	timelinetest.Store(t, func(t *testing.T) timeline.Store {
		s, err := openStore(t.Context(), pgtest.Database(t))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestStore(t *testing.T) {
	timelinetest.Run(t, func(t *testing.T) timeline.Log { return open(t, pgtest.Database(t)) }, timelinetest.Options{
		Reopen: func(t *testing.T, old timeline.Log) timeline.Log {
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, old.(opened).url)
		},
	})
}

// holdsTheContract plays both suites in databases that address gives.
func holdsTheContract(t *testing.T, address func(testing.TB) string) {
	t.Helper()
	timelinetest.Store(t, func(t *testing.T) timeline.Store {
		s, err := openStore(t.Context(), address(t))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
	timelinetest.Run(t, func(t *testing.T) timeline.Log { return open(t, address(t)) })
}
