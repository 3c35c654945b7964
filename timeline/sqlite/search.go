package sqlite

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/timeline"
)

// searchTables find runs by a label, and by three letters in a row anywhere in their words: what
// few runs have would else be looked for in all of them. Triggers keep them, so that whatever
// changes a run's row changes these.
const searchTables = `
	CREATE TABLE labelled (
		key   TEXT NOT NULL,
		value TEXT NOT NULL,
		n     INTEGER NOT NULL,
		PRIMARY KEY (key, value, n)
	) STRICT, WITHOUT ROWID;
	INSERT INTO labelled SELECT key, value, n FROM runs, json_each(runs.labels) WHERE json_valid(labels);
	CREATE TRIGGER labelled_add AFTER UPDATE OF labels ON runs WHEN new.labels <> old.labels BEGIN
		DELETE FROM labelled WHERE n = old.n AND (key, value) IN (SELECT key, value FROM json_each(iif(old.labels = '', '{}', old.labels)));
		INSERT INTO labelled SELECT key, value, new.n FROM json_each(iif(new.labels = '', '{}', new.labels));
	END;
	CREATE TRIGGER labelled_end AFTER DELETE ON runs WHEN old.labels <> '' BEGIN
		DELETE FROM labelled WHERE (key, value, n) IN (SELECT key, value, old.n FROM json_each(old.labels));
	END;
	-- Words are in lower case already, by the rules of Summary.Words. Many at once cost a tenth of as
	-- many one by one, so that what has changed is noted in unworded first.
	CREATE VIRTUAL TABLE worded USING fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');
	INSERT INTO worded (rowid, words) SELECT n, words FROM runs WHERE words <> '';
	CREATE TABLE unworded (
		k INTEGER PRIMARY KEY, -- from 1 whenever it was empty
		n INTEGER NOT NULL     -- may be there again
	) STRICT;
	CREATE TRIGGER unworded_add AFTER UPDATE OF words ON runs WHEN new.words <> old.words BEGIN
		INSERT INTO unworded (n) VALUES (new.n);
	END;
	CREATE TRIGGER worded_add AFTER INSERT ON unworded WHEN new.k >= 256 BEGIN
		DELETE FROM worded WHERE rowid IN (SELECT n FROM unworded);
		INSERT INTO worded (rowid, words) SELECT n, words FROM runs WHERE n IN (SELECT n FROM unworded);
		DELETE FROM unworded;
	END;
	CREATE TRIGGER worded_end AFTER DELETE ON runs WHEN old.words <> '' BEGIN
		DELETE FROM worded WHERE rowid = old.n;
		DELETE FROM unworded WHERE n = old.n;
	END;`

// searchNew keeps searchTables where a run's row has them from the beginning.
const searchNew = `
	CREATE TRIGGER labelled_new AFTER INSERT ON runs WHEN new.labels <> '' BEGIN
		INSERT INTO labelled SELECT key, value, new.n FROM json_each(new.labels);
	END;
	CREATE TRIGGER unworded_new AFTER INSERT ON runs WHEN new.words <> '' BEGIN
		INSERT INTO unworded (n) VALUES (new.n);
	END;`

// few is how many runs are worth being found by searchTables. What more have is soon met among
// the newest.
const few = 1000

// rare restricts the runs to those that searchTables have of something that few runs have.
func (s *store) rare(ctx context.Context, q timeline.Query, restrict func(condition string, values ...any)) error {
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		done, err := s.ifFew(ctx, restrict, "SELECT n FROM labelled WHERE key = ? AND value = ?", key, q.Labels[key])
		if done || err != nil {
			return err
		}
	}
	grams := trigrams(strings.ToLower(q.Text))
	if len(grams) == 0 {
		return nil
	}
	_, err := s.ifFew(ctx, restrict, "SELECT rowid FROM worded WHERE worded MATCH ? UNION ALL SELECT n FROM unworded", strings.Join(grams, " AND "))
	return err
}

// ifFew restricts the runs to those that a statement finds, where those are few, and then reports
// that no other such statement is worth its while.
func (s *store) ifFew(ctx context.Context, restrict func(condition string, values ...any), found string, args ...any) (done bool, err error) {
	var n int
	err = s.each(ctx, "SELECT count(*) FROM ("+found+atMost+")", func(r row) error { return r.Scan(&n) }, append(slices.Clone(args), few+1)...)
	if err != nil || n > few {
		return false, err
	}
	restrict("n IN ("+found+")", args...)
	return true, nil
}

// maxTrigrams is how many trigrams of a text are looked for: what has these is soon compared with
// the text itself.
const maxTrigrams = 24

// trigrams are the first of what a text that contains text has in worded, as words of a MATCH;
// none for a text that is too short to have any.
func trigrams(text string) []string {
	var grams []string
	runes := []rune(text)
	for i := 0; i+3 <= len(runes) && len(grams) < maxTrigrams; i++ {
		gram := `"` + strings.ReplaceAll(string(runes[i:i+3]), `"`, `""`) + `"`
		if !strings.ContainsRune(gram, 0) && !slices.Contains(grams, gram) { // it would end the MATCH
			grams = append(grams, gram)
		}
	}
	return grams
}

// mergePages is how much of worded one step of a merge writes.
const mergePages = 64

// merge writes worded anew, some of it at a time: what runs that are gone have said is left out
// only of what is written.
func (s *store) merge(ctx context.Context) error {
	for pages, more := -mergePages, true; more; pages = mergePages { // the first step takes all of it in
		err := s.inTurns(ctx, func(ctx context.Context) error {
			var before, after int
			err := s.writer.QueryRowContext(ctx, "SELECT total_changes()").Scan(&before)
			if err == nil {
				_, err = s.writer.ExecContext(ctx, "INSERT INTO worded (worded, rank) VALUES ('merge', ?)", pages)
			}
			if err == nil {
				err = s.writer.QueryRowContext(ctx, "SELECT total_changes()").Scan(&after)
			}
			more = after-before > 1 // the statement itself is one
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
