package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// oldest is the oldest version of PostgreSQL that can hold a timeline, as in server_version_num.
const oldest = 15_00_00

// maxAhead is by how much a standby's clock may be fast.
const maxAhead = time.Second

// Finding is one thing about a database that may be wrong, or that is right.
type Finding struct {
	Text   string
	Advice string // what to do about it; "" if nothing has to be done
	Grave  bool   // acknowledged events may be lost, or nothing works
}

// facts are what a database says about itself.
type facts struct {
	version              int
	text                 string
	commit, sync, pages  string // settings
	named                string // synchronous_standby_names
	standbys, inStep     int
	lag                  time.Duration
	ahead                time.Duration // of a standby's clock, when it last said what time it is
	statement, idle      string        // timeouts of our own sessions
	direct               bool
	used, most, reserved int
}

const factsQuery = `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
	current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
	(SELECT count(*) FROM pg_stat_replication), (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
	(SELECT coalesce(extract(epoch FROM max(replay_lag)), 0)::float8 FROM pg_stat_replication),
	(SELECT coalesce(extract(epoch FROM max(reply_time) - clock_timestamp()), 0)::float8 FROM pg_stat_replication),
	current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
	(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int`

// Examine looks at the database at a URL (see Open) and says what it finds. What may lose events
// comes first, even if nothing has been lost yet.
func Examine(ctx context.Context, url string) ([]Finding, error) {
	settings, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{name: nameOf(settings.ConnConfig)}
	f := facts{direct: direct(settings)}
	if f.direct {
		ask(settings.ConnConfig.RuntimeParams, forWriters)
	}
	settings.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, s.explain(err)
	}
	defer pool.Close()
	bounded, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	if err := f.read(bounded, pool); err != nil {
		return nil, s.explain(err)
	}
	return f.findings(), nil
}

func (f *facts) read(ctx context.Context, pool *pgxpool.Pool) error {
	var lag, ahead float64
	err := pool.QueryRow(ctx, factsQuery).Scan(&f.version, &f.text, &f.commit, &f.sync, &f.pages, &f.named, &f.standbys, &f.inStep, &lag, &ahead,
		&f.statement, &f.idle, &f.used, &f.most, &f.reserved)
	f.lag = time.Duration(lag * float64(time.Second)).Round(time.Millisecond)
	f.ahead = time.Duration(ahead * float64(time.Second)).Round(time.Second)
	return err
}

// findings judges the facts.
func (f *facts) findings() []Finding {
	list := []Finding{{Text: fmt.Sprintf("PostgreSQL %s", f.text)}}
	if f.version < oldest {
		list[0] = Finding{Text: fmt.Sprintf("PostgreSQL %s is older than 15", f.text), Advice: "upgrade it", Grave: true}
	}
	list = append(list, f.durability()...)
	list = append(list, f.standby())
	if f.ahead > maxAhead {
		list = append(list, Finding{
			Text:   fmt.Sprintf("a standby's clock is %v fast: after a failover to it, waits and cooldowns end so much earlier", f.ahead),
			Advice: "have both servers keep the same time (NTP)",
		})
	}
	if f.statement == "0" || f.idle == "0" {
		list = append(list, Finding{
			Text:   "sessions have no statement_timeout or no idle_in_transaction_session_timeout: one that hangs keeps others waiting",
			Advice: "set them for the role, to 10s and 2s: a pooler does not pass on what is asked for",
		})
	}
	return append(list, f.room())
}

// durability has the server's settings that may lose acknowledged writes.
func (f *facts) durability() []Finding {
	var list []Finding
	for _, s := range []struct{ name, value, bad string }{{"synchronous_commit", f.commit, "off"}, {"fsync", f.sync, "off"}, {"full_page_writes", f.pages, "off"}} {
		if s.value == s.bad {
			list = append(list, Finding{Text: fmt.Sprintf("%s is %s: what was acknowledged is lost when the machine fails", s.name, s.value), Advice: "set it to on", Grave: true})
		}
	}
	return list
}

// standby says what a failover would lose.
func (f *facts) standby() Finding {
	switch {
	case f.standbys == 0 && f.named == "":
		return Finding{Text: "no standby is connected: nothing takes over if the database fails"}
	case f.named == "":
		return Finding{
			Text:   fmt.Sprintf("standbys: %d connected, none of them synchronous: a failover loses what the next primary has not received yet", f.standbys),
			Advice: "set synchronous_standby_names", Grave: true,
		}
	case f.commit == "local":
		return Finding{Text: "synchronous_commit is local: a failover loses what the standby has not received yet", Advice: "set it to on", Grave: true}
	case f.standbys == 0:
		return Finding{Text: "synchronous_standby_names is set and no standby is connected: writes wait for one", Advice: "start it, or take it out of the list", Grave: true}
	}
	return Finding{Text: fmt.Sprintf("standbys: %d connected, %d of them synchronous, %v behind", f.standbys, f.inStep, f.lag)}
}

// room says whether there are connections for another process.
func (f *facts) room() Finding {
	free := f.most - f.reserved - f.used
	text := fmt.Sprintf("%d of %d connections are in use; a process takes %d at the most", f.used, f.most, connections)
	if free < connections {
		return Finding{Text: text, Advice: "raise max_connections, or put a pooler in front of it", Grave: free <= 0}
	}
	return Finding{Text: text}
}
