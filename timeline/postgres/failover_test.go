package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// TestLostTail: what a database has lost of a run the owner whose lease holds appends again, and
// nobody's command is missed.
func TestLostTail(t *testing.T) {
	url := pgtest.Database(t)
	for what, loses := range map[string]string{
		"events": "DELETE FROM mulligan.events WHERE seq > 1; UPDATE mulligan.runs SET seq = 1, inbox = 0, heard = 0; DELETE FROM mulligan.commands",
		"claim":  "DELETE FROM mulligan.events WHERE seq > 1; UPDATE mulligan.runs SET seq = 1, inbox = 0, heard = 0, epoch = 1, owner = ''; DELETE FROM mulligan.commands",
		"all":    "DELETE FROM mulligan.events; DELETE FROM mulligan.runs; DELETE FROM mulligan.commands",
	} {
		t.Run(what, func(t *testing.T) {
			s := open(t, url)
			do(t, url, "DELETE FROM mulligan.events; DELETE FROM mulligan.runs; DELETE FROM mulligan.commands")
			l, err := s.Claim(t.Context(), "r", "me", time.Hour)
			if err == nil {
				err = s.Append(t.Context(), l, 0, noted("r", 1))
			}
			if err == nil {
				l, err = s.Claim(t.Context(), "r", "me", time.Hour)
			}
			if err == nil {
				_, err = s.Send(t.Context(), "r", timeline.Command{ID: "a", Body: recovery.CancelRequested{}})
			}
			answer := noted("r", 2)
			answer.Inbox = 1
			if err == nil {
				err = s.Append(t.Context(), l, 1, answer)
			}
			if err != nil {
				t.Fatal(err)
			}
			do(t, url, loses)
			_ = s.SaveTail(t.Context(), l, timeline.Tail{Attempt: 1, Text: "Hel"}) // which it may refuse, and is not the end of the lease
			if err := s.Append(t.Context(), l, 2, noted("r", 3)); err != nil {
				t.Fatal(err)
			}
			if events, err := s.Read(t.Context(), "r", 0, 0); err != nil || len(events) != 3 {
				t.Errorf("%d events, want 3 (%v)", len(events), err)
			}
			if n, err := s.Send(t.Context(), "r", timeline.Command{ID: "b", Body: recovery.CancelRequested{}}); n != 2 || err != nil {
				t.Errorf("the next command is at position %d, want 2: one was answered (%v)", n, err)
			}
		})
	}
}

// TestOldPrimary: a database of a lower timeline id than was seen takes nothing, whoever asks.
func TestOldPrimary(t *testing.T) {
	url := pgtest.Database(t)
	s := open(t, url)
	if s.line.Load() == 0 {
		t.Fatal("its timeline id was not seen")
	}
	s.line.Add(1)
	do(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	_, err := s.Claim(t.Context(), "r", "me", time.Hour)
	if e, ok := errors.AsType[*timeline.StoreError](err); !ok || !errors.Is(err, timeline.ErrGone) || !strings.Contains(e.Reason, "old primary") {
		t.Errorf("a claim at an old primary: %v", err)
	}
	s.line.Add(-1)
	if _, err := s.Claim(t.Context(), "r", "me", time.Hour); err != nil {
		t.Errorf("a claim once it is the newest: %v", err)
	}
}

// TestAnotherClock: I36: whoever takes over may have another clock. The leases that were given by the
// old one begin anew there, once: none ends early, and none of a dead owner holds for longer than it
// was given for. It is given for as long as one that nobody has kept yet begins anew for.
func TestAnotherClock(t *testing.T) {
	const ttl = 15 * time.Second
	for _, kept := range []bool{false, true} {
		for _, skew := range []time.Duration{10 * time.Hour, -10 * time.Hour} {
			t.Run(fmt.Sprintf("kept %t, %s", kept, skew), func(t *testing.T) {
				url := pgtest.Database(t)
				s, other := open(t, url), open(t, url)
				l, err := s.Claim(t.Context(), "r", "me", ttl)
				if err == nil {
					err = s.Append(t.Context(), l, 0, noted("r", 1))
				}
				if err == nil && kept {
					if _, err = s.Keep(t.Context(), "me", ttl); err == nil {
						_, err = s.Renew(t.Context(), l, ttl)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				do(t, url, fmt.Sprintf("UPDATE mulligan.leases SET expires = expires - interval '%d s'", int(skew.Seconds())))
				do(t, url, fmt.Sprintf("UPDATE mulligan.runs SET expires = expires - interval '%d s'", int(skew.Seconds())))
				do(t, url, "UPDATE mulligan.schema SET line = line - 1")
				for _, store := range []opened{s, other} {
					store.renewed.Store(0)
				}
				do(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
				if _, err := other.Claim(t.Context(), "r", "somebody", ttl); !errors.Is(err, timeline.ErrOwned) {
					t.Errorf("a lease that holds: %v", err)
				}
				if left := leaseLeft(t, url); left < ttl/2 || left > ttl {
					t.Errorf("the lease ends in %s, and was given for %s", left, ttl)
				}
			})
		}
	}
}

// leaseLeft is when the lease of the only run ends.
func leaseLeft(t *testing.T, url string) time.Duration {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var seconds float64
	if err := conn.QueryRow(t.Context(), "SELECT extract(epoch FROM "+ends+" - clock_timestamp())::float8 FROM mulligan.runs AS runs").Scan(&seconds); err != nil {
		t.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// TestReader: a role that may only read finds the runs of those that may write.
func TestReader(t *testing.T) {
	address := pgtest.Database(t)
	says(t, open(t, address), "r1", "An early bird", nil)
	role := fmt.Sprintf("reader%d", os.Getpid())
	do(t, address, fmt.Sprintf("CREATE ROLE %[1]s LOGIN; GRANT USAGE ON SCHEMA mulligan TO %[1]s; GRANT SELECT ON ALL TABLES IN SCHEMA mulligan TO %[1]s", role))
	defer do(t, address, fmt.Sprintf("DROP OWNED BY %[1]s; DROP ROLE %[1]s", role))
	as, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	as.User = url.User(role)
	s, err := openStore(t.Context(), as.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it has no leases to give up, and may not
	wantFound(t, opened{Journal: timeline.NewJournal(s)}, timeline.Query{Text: "bird"}, "r1 ")
}
