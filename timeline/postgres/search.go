package postgres

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline"
)

// searchTables find runs by a label, and by three letters in a row anywhere in their words: what
// few runs have would else be looked for in all of them. Triggers keep them, so that whatever
// changes a run's row changes these. They are apart from it since an append writes a row anew, and
// would write all that its indexes say of its words.
//
// The extension pg_trgm leaves out what is no letter or digit, and is not everywhere.
const searchTables = `
CREATE TABLE mulligan.labelled (
	key   text COLLATE "C" NOT NULL,
	value text COLLATE "C" NOT NULL,
	run   text COLLATE "C" NOT NULL,
	PRIMARY KEY (key, value, run)
);
CREATE TABLE mulligan.worded (
	run   text COLLATE "C" PRIMARY KEY,
	words text COLLATE "C" NOT NULL -- of the run's row
);
CREATE FUNCTION mulligan.trigrams(words text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
	SELECT coalesce(array_agg(substr(words, i, 3) COLLATE "C"), '{}') FROM generate_series(1, length(words) - 2) AS i
$$;
-- The labels of a run's row. JSON may say what a text cannot be, and an import what an index does not hold: nobody can ask for those.
CREATE FUNCTION mulligan.labels_of(labels text) RETURNS TABLE (key text, value text) LANGUAGE sql IMMUTABLE STRICT AS $$
	SELECT e.key, e.value FROM json_each_text(CASE WHEN labels = '' OR position('\u0000' IN replace(labels, '\\', '')) > 0 THEN '{}' ELSE labels END::json) AS e
		WHERE octet_length(e.key) + octet_length(e.value) <= 2048
$$;
INSERT INTO mulligan.labelled SELECT e.key, e.value, run FROM mulligan.runs, mulligan.labels_of(labels) AS e ON CONFLICT DO NOTHING;
INSERT INTO mulligan.worded SELECT run, words FROM mulligan.runs WHERE words <> '';
CREATE INDEX worded_by_trigram ON mulligan.worded USING gin (mulligan.trigrams(words)) WITH (gin_pending_list_limit = 256);
CREATE FUNCTION mulligan.find() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF TG_OP <> 'INSERT' AND OLD.labels <> NEW.labels THEN
		DELETE FROM mulligan.labelled WHERE run = OLD.run AND (key, value) IN (SELECT e.key, e.value FROM mulligan.labels_of(OLD.labels) AS e);
	END IF;
	IF TG_OP = 'INSERT' OR OLD.labels <> NEW.labels THEN
		INSERT INTO mulligan.labelled SELECT e.key, e.value, NEW.run FROM mulligan.labels_of(NEW.labels) AS e ON CONFLICT DO NOTHING;
	END IF;
	IF TG_OP = 'INSERT' OR OLD.words <> NEW.words THEN
		INSERT INTO mulligan.worded VALUES (NEW.run, NEW.words) ON CONFLICT (run) DO UPDATE SET words = excluded.words;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER find_new AFTER INSERT ON mulligan.runs FOR EACH ROW WHEN (NEW.words <> '' OR NEW.labels <> '') EXECUTE FUNCTION mulligan.find();
CREATE TRIGGER find AFTER UPDATE ON mulligan.runs FOR EACH ROW WHEN (OLD.words <> NEW.words OR OLD.labels <> NEW.labels) EXECUTE FUNCTION mulligan.find();
`

// trigramNumbers has trigrams as numbers, which are made and kept in order for a third of what texts
// cost: the write of a failure makes three hundred. Letters may share a number, since what is found
// is compared with the words themselves.
const trigramNumbers = `
DROP FUNCTION mulligan.trigrams CASCADE;
CREATE FUNCTION mulligan.trigrams(words text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
DECLARE
	letter text COLLATE "C";
	trigram bigint := 0;
	n int := 0;
	all_of bigint[] := '{}';
BEGIN
	FOREACH letter IN ARRAY string_to_array(words, NULL) LOOP -- substr would count the letters before each
		trigram := ((trigram << 21) | (hashtext(letter) & 2097151)) & 9223372036854775807; -- 21 bits of each of three
		n := n + 1;
		all_of[n] := trigram;
	END LOOP;
	RETURN all_of[3:];
END $$;
CREATE INDEX worded_by_trigram ON mulligan.worded USING gin (mulligan.trigrams(words)) WITH (gin_pending_list_limit = 256);
`

// few is how many runs are worth being found by searchTables. What more have is soon met among
// the newest.
const few = 1000

// rare restricts the runs to those that searchTables have of something that few runs have.
func (s *Store) rare(ctx context.Context, q timeline.Query, where *conditions) error {
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		done, err := s.ifFew(ctx, where, "SELECT run FROM mulligan.labelled WHERE key = %s AND value = %s", text(key), text(q.Labels[key]))
		if done || err != nil {
			return err
		}
	}
	words := text(strings.ToLower(q.Text))
	found := "SELECT run FROM mulligan.worded WHERE mulligan.trigrams(words) @> mulligan.trigrams(%s)"
	switch n := utf8.RuneCountInString(words); {
	case n == 0:
		return nil
	case n < 3: // which no index has; these rows are smaller than the runs'
		found = "SELECT run FROM mulligan.worded WHERE position(%s IN words) > 0"
	}
	_, err := s.ifFew(ctx, where, found, words)
	return err
}

// ifFew restricts the runs to those that a statement finds, where those are few, and then reports that
// no other such statement is worth its while.
func (s *Store) ifFew(ctx context.Context, where *conditions, found string, values ...any) (done bool, err error) {
	var one conditions
	one.add(found+" LIMIT %s", append(values, few+1)...)
	var runs []string
	err = s.query(ctx, func(rows pgx.Rows) error {
		var run string
		err := rows.Scan(&run)
		runs = append(runs, run)
		return err
	}, one.text[0], one.args...)
	if err != nil || len(runs) > few {
		return false, err
	}
	where.add("run = ANY (%s::text[])", runs)
	return true, nil
}
