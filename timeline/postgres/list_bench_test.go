package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// BenchmarkList is as of sqlite: a page of 50 of 100,000 runs by each filter of the control room, where
// what is asked for is usual, where a single old run has it, and where none has; and beside it the sessions.
func BenchmarkList(b *testing.B) {
	url := pgtest.Database(b)
	s := open(b, url)
	runs := 100_000
	if testing.Short() {
		runs = 1000
	}
	manyRuns(b, url, runs)
	began := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		name string
		q    timeline.Query
	}{
		{"newest", timeline.Query{}},
		{"oldest", timeline.Query{Oldest: true}},
		{"second half", timeline.Query{Before: fmt.Sprintf("run%06d", runs/2)}},
		{"status", timeline.Query{Status: recovery.StatusFailed}},
		{"running", timeline.Query{Status: recovery.StatusRunning}},
		{"model", timeline.Query{Model: "lab/3"}},
		{"model of one", timeline.Query{Model: "lab/rare"}},
		{"kind", timeline.Query{Kind: failure.KindOverloaded}},
		{"kind of none", timeline.Query{Kind: failure.KindTLS}},
		{"kind and model of one", timeline.Query{Kind: failure.KindOverloaded, Model: "lab/rare"}},
		{"decided by", timeline.Query{DecidedBy: "rules"}},
		{"needs you", timeline.Query{SuggestionOpen: true}},
		{"label", timeline.Query{Labels: recovery.Labels{"tenant": "t7"}}},
		{"label of none", timeline.Query{Labels: recovery.Labels{"tenant": "nobody"}}},
		{"text", timeline.Query{Text: "overloaded"}},
		{"text of one", timeline.Query{Text: "needle"}},
		{"text of none", timeline.Query{Text: "nowhere to be found"}},
		{"text of two letters", timeline.Query{Text: "zq"}},
		{"text of a letter", timeline.Query{Text: "ü"}},
		{"usual text and label of none", timeline.Query{Text: "question", Labels: recovery.Labels{"tenant": "nobody"}}},
		{"usual text and label of one", timeline.Query{Text: "question", Labels: recovery.Labels{"only": "one"}}},
		{"usual label and text of one", timeline.Query{Text: "needle", Labels: recovery.Labels{"all": ""}}},
		{"usual text and kind of none", timeline.Query{Text: "question", Kind: failure.KindTLS}},
		{"usual label and kind of none", timeline.Query{Labels: recovery.Labels{"all": ""}, Kind: failure.KindTLS}},
		{"an hour long ago", timeline.Query{Since: began.Add(time.Hour), Until: began.Add(2 * time.Hour)}},
		{"before all", timeline.Query{Until: began}},
		{"after all", timeline.Query{Since: began.Add(1000 * time.Hour)}},
		{"label, text and kind of none", timeline.Query{Kind: failure.KindOverloaded, Text: "nowhere", Labels: recovery.Labels{"tenant": "t7"}}},
	} {
		c.q.Limit = 50
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := s.List(context.Background(), c.q); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
			b.ReportMetric(took[len(took)-1].Seconds()*1000, "ms-worst")
		})
	}
	b.Run("sessions", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Sessions(context.Background(), 50); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// manyRuns writes n runs, a second apart: one in four failed and was recovered, one in a hundred waits for a
// person, the fourth of all is another than the rest, and ten make a session.
func manyRuns(b *testing.B, url string, n int) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, do := range []string{`
		INSERT INTO mulligan.runs (run, born, epoch, owner, member, expires, seq, session, turn, model, title, labels, status, started_at, updated_at,
			suggestion_open, asking, ended, kind, problem, decided_by, course, words)
		SELECT 'run' || to_char(i, 'FM000000'), to_timestamp(1000000 + i), 1, '', '', to_timestamp(0), 8, CASE WHEN i % 2 = 0 THEN 's' || i / 20 ELSE '' END, i % 20 / 2 + 1,
			CASE WHEN i = 3 THEN 'lab/rare' ELSE 'lab/' || i % 5 END, title, '{"all":"",' || CASE WHEN i = 3 THEN '"only":"one",' ELSE '' END || '"tenant":"t' || i % 50 || '"}',
			CASE WHEN i % 100 = 3 THEN 'failed' ELSE 'completed' END, (1000000 + i) * 1000000000::bigint, (1000000 + i) * 1000000000::bigint,
			i % 100 = 3, CASE WHEN i % 100 = 3 THEN 's' ELSE '' END, i % 100 <> 3, CASE WHEN i % 4 = 3 THEN 'overloaded' ELSE '' END,
			CASE WHEN i % 4 = 3 THEN problem ELSE '' END, CASE WHEN i % 8 = 3 THEN 'rules' WHEN i % 8 = 7 THEN 'auto-recover' ELSE '' END, '',
			lower(title || E'\n' || CASE WHEN i % 4 = 3 THEN problem ELSE '' END)
		FROM (SELECT i, CASE WHEN i = 3 THEN 'A needle in the haystack' ELSE 'Question ' || i || ' about what is on the table today' END AS title,
			'Lab is overloaded' || E'\n' || 'It is not you: too many people ask at once. Try again in a minute, or another model.' AS problem
			FROM generate_series(0, $1::int - 1) AS i) AS made`, "ANALYZE mulligan.runs"} {
		args := []any{n}
		if do[0] == 'A' {
			args = nil
		}
		if _, err := conn.Exec(b.Context(), do, args...); err != nil {
			b.Fatal(err)
		}
	}
}
