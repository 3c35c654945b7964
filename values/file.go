package values

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // the driver, in pure Go
)

// File is a Store in an SQLite database on this machine, which several processes may have open.
type File struct{ db *sql.DB }

var _ Store = (*File)(nil)

const schema = `
CREATE TABLE IF NOT EXISTS plugins (plugin TEXT PRIMARY KEY, bytes INTEGER NOT NULL, version INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (
	plugin TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (plugin, key)
) WITHOUT ROWID;`

// Open opens the store in a file. It creates the file with mode 0600, in a folder with
// mode 0700.
func Open(ctx context.Context, path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return open(ctx, "file:"+(&url.URL{Path: path}).EscapedPath()+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
}

// Memory makes a store that lives as long as the process.
func Memory(ctx context.Context) (*File, error) { return open(ctx, "file::memory:?_txlock=immediate") }

func open(ctx context.Context, dsn string) (*File, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer anyway, and an in-memory store is one connection
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("the values of plugins: %w", err), db.Close())
	}
	return &File{db}, nil
}

// Close closes the database.
func (f *File) Close() error { return f.db.Close() }

// GetValue implements Store.
func (f *File) GetValue(ctx context.Context, plugin, key string) (value []byte, version int64, err error) {
	if err := Check(key, nil); err != nil {
		return nil, 0, err
	}
	return get(ctx, f.db, plugin, key)
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func get(ctx context.Context, q querier, plugin, key string) (value []byte, version int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT value, version FROM held WHERE plugin = ? AND key = ?", plugin, key).Scan(&value, &version)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if value == nil && err == nil {
		value = []byte{}
	}
	return value, version, err
}

// SetValue implements Store.
func (f *File) SetValue(ctx context.Context, plugin, key string, value []byte, expected *int64) (done bool, version int64, err error) {
	if err := Check(key, value); err != nil {
		return false, 0, err
	}
	err = f.change(ctx, plugin, key, func(old []byte, at int64) ([]byte, error) {
		if version = at; expected != nil && *expected != at {
			return nil, errUnchanged
		}
		done = true
		return append([]byte{}, value...), nil
	}, &version)
	return done && err == nil, version, err
}

// AddValue implements Store.
func (f *File) AddValue(ctx context.Context, plugin, key string, amount int64) (sum int64, err error) {
	if err := Check(key, nil); err != nil {
		return 0, err
	}
	var version int64
	err = f.change(ctx, plugin, key, func(old []byte, _ int64) ([]byte, error) {
		if sum, err = Sum(old, amount); err != nil {
			return nil, err
		}
		if amount == 0 {
			return nil, errUnchanged
		}
		return strconv.AppendInt(nil, sum, 10), nil
	}, &version)
	return sum, err
}

// DeleteValue implements Store.
func (f *File) DeleteValue(ctx context.Context, plugin, key string, expected *int64) (done bool, err error) {
	if err := Check(key, nil); err != nil {
		return false, err
	}
	var version int64
	err = f.change(ctx, plugin, key, func(old []byte, at int64) ([]byte, error) {
		done = expected == nil || *expected == at
		if !done || old == nil {
			return nil, errUnchanged
		}
		return nil, nil
	}, &version)
	return done && err == nil, err
}

// errUnchanged ends a change that changes nothing.
var errUnchanged = errors.New("unchanged")

// change replaces a value with what become returns, in one transaction; nil means no
// value.
func (f *File) change(ctx context.Context, plugin, key string, become func(old []byte, version int64) ([]byte, error), version *int64) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	old, at, err := get(ctx, tx, plugin, key)
	if err != nil {
		return err
	}
	value, err := become(old, at)
	if errors.Is(err, errUnchanged) {
		return nil
	} else if err != nil {
		return err
	}
	var bytes, last int64
	err = tx.QueryRowContext(ctx, "SELECT bytes, version FROM plugins WHERE plugin = ?", plugin).Scan(&bytes, &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if old != nil {
		bytes -= Size(key, old)
	}
	last++
	if value == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM held WHERE plugin = ? AND key = ?", plugin, key)
	} else {
		if bytes += Size(key, value); bytes > MaxBytes {
			return ErrFull
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO held (plugin, key, value, version) VALUES (?, ?, ?, ?)
			ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value, version = excluded.version`, plugin, key, value, last)
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO plugins (plugin, bytes, version) VALUES (?, ?, ?)
		ON CONFLICT (plugin) DO UPDATE SET bytes = excluded.bytes, version = excluded.version`, plugin, bytes, last); err != nil {
		return err
	}
	*version = last
	return tx.Commit()
}

// ListValues implements Store.
func (f *File) ListValues(ctx context.Context, plugin, prefix, after string) ([]string, error) {
	rows, err := f.db.QueryContext(ctx, "SELECT key FROM held WHERE plugin = ? AND key >= ? AND key > ? AND substr(key, 1, length(?)) = ? ORDER BY key LIMIT ?",
		plugin, prefix, after, prefix, prefix, MaxKeys+1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}
