package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/values"
)

var _ values.Store = (*Store)(nil)

// GetValue implements values.Store.
func (s *Store) GetValue(ctx context.Context, plugin, key string) (value []byte, version int64, err error) {
	if err := values.Check(key, nil); err != nil {
		return nil, 0, err
	}
	err = s.query(ctx, func(rows pgx.Rows) error { return rows.Scan(&value, &version) },
		"SELECT value, version FROM mulligan.plugin_values WHERE plugin = $1 AND key = $2", text(plugin), key)
	return value, version, err
}

// SetValue implements values.Store.
func (s *Store) SetValue(ctx context.Context, plugin, key string, value []byte, expected *int64) (done bool, version int64, err error) {
	if err := values.Check(key, value); err != nil {
		return false, 0, err
	}
	version, err = s.changeValue(ctx, plugin, key, func(_ []byte, at int64) ([]byte, bool, error) {
		done = expected == nil || *expected == at
		return append([]byte{}, value...), done, nil
	})
	return done && err == nil, version, err
}

// AddValue implements values.Store.
func (s *Store) AddValue(ctx context.Context, plugin, key string, amount int64) (sum int64, err error) {
	if err := values.Check(key, nil); err != nil {
		return 0, err
	}
	_, err = s.changeValue(ctx, plugin, key, func(old []byte, _ int64) (_ []byte, changed bool, err error) {
		sum, err = values.Sum(old, amount)
		return strconv.AppendInt(nil, sum, 10), amount != 0, err
	})
	return sum, err
}

// DeleteValue implements values.Store.
func (s *Store) DeleteValue(ctx context.Context, plugin, key string, expected *int64) (done bool, err error) {
	if err := values.Check(key, nil); err != nil {
		return false, err
	}
	_, err = s.changeValue(ctx, plugin, key, func(old []byte, at int64) ([]byte, bool, error) {
		done = expected == nil || *expected == at
		return nil, done && old != nil, nil
	})
	return done && err == nil, err
}

// changeValue replaces one value in a transaction, nil being none, and returns the version that it
// then has. Changes of one plugin are made one after another.
func (s *Store) changeValue(ctx context.Context, plugin, key string, change func(old []byte, version int64) (value []byte, changed bool, err error)) (version int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	plugin = text(plugin)
	err = pgx.BeginFunc(ctx, s.readers, func(tx pgx.Tx) error {
		var bytes, last int64
		if err := tx.QueryRow(ctx, `INSERT INTO mulligan.plugins AS p (plugin) VALUES ($1)
			ON CONFLICT (plugin) DO UPDATE SET plugin = p.plugin RETURNING bytes, version`, plugin).Scan(&bytes, &last); err != nil {
			return err
		}
		var old []byte
		err := tx.QueryRow(ctx, "SELECT value, version FROM mulligan.plugin_values WHERE plugin = $1 AND key = $2", plugin, key).Scan(&old, &version)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		value, changed, err := change(old, version)
		if err != nil || !changed {
			return err
		}
		if old != nil {
			bytes -= values.Size(key, old)
		}
		version = last + 1
		if value == nil {
			_, err = tx.Exec(ctx, "DELETE FROM mulligan.plugin_values WHERE plugin = $1 AND key = $2", plugin, key)
		} else {
			if bytes += values.Size(key, value); bytes > values.MaxBytes {
				return values.ErrFull
			}
			_, err = tx.Exec(ctx, `INSERT INTO mulligan.plugin_values (plugin, key, value, version) VALUES ($1, $2, $3, $4)
				ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value, version = excluded.version`, plugin, key, value, version)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE mulligan.plugins SET bytes = $2, version = $3 WHERE plugin = $1", plugin, bytes, version)
		return err
	})
	for _, ours := range []error{values.ErrFull, values.ErrNoNumber} {
		if errors.Is(err, ours) {
			return version, ours
		}
	}
	if err != nil {
		return 0, s.explain(err)
	}
	return version, nil
}

// ListValues implements values.Store.
func (s *Store) ListValues(ctx context.Context, plugin, prefix, after string) (keys []string, err error) {
	err = s.query(ctx, func(rows pgx.Rows) error {
		var key string
		err := rows.Scan(&key)
		if n := len(keys); n > 0 && keys[n-1] >= key { // it is read once more, from the beginning
			keys = nil
		}
		keys = append(keys, key)
		return err
	}, "SELECT key FROM mulligan.plugin_values WHERE plugin = $1 AND key >= $2 AND key > $3 AND starts_with(key, $2) ORDER BY key LIMIT $4",
		text(plugin), prefix, after, values.MaxKeys+1)
	return keys, err
}
