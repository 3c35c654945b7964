package postgres

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// says writes a run that began with text.
func says(t *testing.T, s opened, run, text string, labels recovery.Labels) timeline.Lease {
	t.Helper()
	l, err := s.Begin(t.Context(), run, "me", time.Hour, func(timeline.Lease) []recovery.Event {
		return []recovery.Event{{Run: run, Seq: 1, Time: time.Unix(1_772_000_000, 0), Body: recovery.Started{Input: []llm.Message{llm.User(text)}, Labels: labels}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func wantFound(t *testing.T, s opened, q timeline.Query, want string) {
	t.Helper()
	list, err := s.List(t.Context(), q)
	got := ""
	for _, summary := range list {
		got += summary.Run + " "
	}
	if err != nil || got != want {
		t.Errorf("%+v: %q, not %q, %v", q, got, want, err)
	}
}

// TestMigrateFindsWhatIsThere: what a store of an older schema has is found in the new one by its
// labels and words, though to write that takes longer than a statement may.
func TestMigrateFindsWhatIsThere(t *testing.T) {
	newer := `ALTER TABLE mulligan.schema DROP COLUMN line; ALTER TABLE mulligan.leases DROP COLUMN ttl; UPDATE mulligan.schema SET version = 6`
	for from, undo := range map[string]string{
		"without a search": `DROP TABLE mulligan.labelled, mulligan.worded; DROP FUNCTION mulligan.find, mulligan.labels_of, mulligan.trigrams CASCADE; ` + newer,
		"trigrams as texts": `DROP FUNCTION mulligan.trigrams CASCADE; UPDATE mulligan.schema SET version = 8;
			CREATE FUNCTION mulligan.trigrams(words text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT AS $$
				SELECT coalesce(array_agg(substr(words, i, 3) COLLATE "C"), '{}') FROM generate_series(1, length(words) - 2) AS i $$;
			CREATE INDEX worded_by_trigram ON mulligan.worded USING gin (mulligan.trigrams(words))`,
	} {
		t.Run(from, func(t *testing.T) {
			url := pgtest.Database(t)
			s := open(t, url)
			says(t, s, "r1", "An early bird", recovery.Labels{"tenant": "acme <&>"})
			says(t, s, "r2", "A late one", nil)
			do(t, url, `INSERT INTO mulligan.runs (run, epoch, owner, member, expires, seq, words) SELECT i, 1, '', '', now(), 1, repeat(i::text, 50) FROM generate_series(1, 3000) AS i`)
			do(t, url, undo)
			allowed := forReaders["statement_timeout"]
			forReaders["statement_timeout"] = "100ms"
			_, err := Migrate(t.Context(), url)
			forReaders["statement_timeout"] = allowed
			if err != nil {
				t.Fatal(err)
			}
			wantFound(t, s, timeline.Query{Text: "ly bir"}, "r1 ")
			wantFound(t, s, timeline.Query{Labels: recovery.Labels{"tenant": "acme <&>"}}, "r1 ")
			wantFound(t, s, timeline.Query{Labels: recovery.Labels{"tenant": "acme"}}, "")
			says(t, s, "r3", "Another bird", nil)
			wantFound(t, s, timeline.Query{Text: "bird"}, "r3 r1 ")
			// A plan by the index, where a table of this size would be read without one.
			do(t, url, `SET enable_seqscan = off; DO $$ DECLARE line text; plan text := ''; BEGIN
				FOR line IN EXPLAIN SELECT run FROM mulligan.worded WHERE mulligan.trigrams(words) @> mulligan.trigrams('bird') LOOP plan := plan || line; END LOOP;
				IF plan NOT LIKE '%worded_by_trigram%' THEN RAISE 'not by the index: %', plan; END IF;
			END $$`)
		})
	}
}

// TestFoundFromAnyLetter: a text is found wherever in the words it begins, whatever its letters are, and the
// index knows in what order they come.
func TestFoundFromAnyLetter(t *testing.T) {
	url := pgtest.Database(t)
	s := open(t, url)
	letters := []rune("aé日\U0001f600ñ-ßЖ\U0010fffd'%_\\")
	dice := rand.New(rand.NewPCG(3, 4))
	words := make([]rune, 60)
	for i := range words {
		words[i] = letters[dice.IntN(len(letters))]
	}
	says(t, s, "r", string(words), nil)
	says(t, s, "other", "abcd", nil)
	do(t, url, `DO $$ DECLARE run text; BEGIN
		FOR run IN SELECT w.run FROM mulligan.worded AS w WHERE mulligan.trigrams(words) && (mulligan.trigrams('abd') || mulligan.trigrams('bac') || mulligan.trigrams('xbc')) LOOP RAISE 'found in %', run; END LOOP;
	END $$`)
	for i := range words {
		wantFound(t, s, timeline.Query{Text: string(words[i:min(i+7, len(words))])}, "r ")
	}
}

// TestUsualAndRare: what many runs have is found as what few have is, together too.
func TestUsualAndRare(t *testing.T) {
	url := pgtest.Database(t)
	s := open(t, url)
	do(t, url, fmt.Sprintf(`INSERT INTO mulligan.runs (run, epoch, owner, member, expires, seq, labels, status, words)
		SELECT 'many' || i, 1, '', '', now(), 1, '{"all":"","n":"' || i || '"}', 'completed', 'question ' || i FROM generate_series(1, %d) AS i`, few+1))
	wantFound(t, s, timeline.Query{Text: "question", Limit: 1, Labels: recovery.Labels{"all": ""}}, fmt.Sprintf("many%d ", few+1))
	wantFound(t, s, timeline.Query{Text: "question 777", Labels: recovery.Labels{"all": ""}}, "many777 ")
	wantFound(t, s, timeline.Query{Text: "question", Labels: recovery.Labels{"n": "778", "all": ""}}, "many778 ")
	wantFound(t, s, timeline.Query{Text: "question", Labels: recovery.Labels{"n": "no"}}, "")
}

// TestSearchOfImported: labels that a text cannot be, or an index not hold, keep no run from being
// written; and deleted runs leave nothing to find them by.
func TestSearchOfImported(t *testing.T) {
	url := pgtest.Database(t)
	s := open(t, url)
	var long strings.Builder
	for dice := rand.New(rand.NewPCG(1, 2)); long.Len() < 20_000; { // it can hardly be compressed
		fmt.Fprintf(&long, "%x", dice.Uint64())
	}
	for run, value := range map[string]string{"nul": "a\x00b", "long": long.String(), "escaped": `a\u0000b`} {
		l := says(t, s, run, "A bird", recovery.Labels{"odd": value, "name": run})
		if err := s.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	wantFound(t, s, timeline.Query{Labels: recovery.Labels{"odd": `a\u0000b`}}, "escaped ")
	wantFound(t, s, timeline.Query{Labels: recovery.Labels{"name": "long"}}, "long ")
	if err := s.Delete(t.Context(), "nul", "long", "escaped"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	left := -1
	if err := conn.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM mulligan.labelled) + (SELECT count(*) FROM mulligan.worded)").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
}
