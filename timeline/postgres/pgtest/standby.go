package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Standby starts a synchronous standby of o: nothing that it does not have counts as written. It
// ends with the test, and can be read until then.
func (o *Own) Standby(t testing.TB) *Own {
	t.Helper()
	s := o.Behind(t)
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := o.server.execute("postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	o.eventually(t, "the standby follows", "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")
	return s
}

// Behind starts a server that follows o as it can, and may lack what was written last. It ends with the test,
// and may be read meanwhile.
func (o *Own) Behind(t testing.TB) *Own {
	t.Helper()
	s := &Own{server: server{settings: o.server.settings}, programs: o.programs}
	var err error
	if s.dir, err = os.MkdirTemp("", "pgtest"); err != nil { // not t.TempDir: a socket's path must be short
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	if err = s.copy(o); err == nil {
		err = s.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Crash)
	o.eventually(t, "the standby follows", "SELECT FROM pg_stat_replication WHERE state = 'streaming'")
	return s
}

// Deafen has a standby hear nothing more of the server that it follows.
func (o *Own) Deafen(t testing.TB) {
	t.Helper()
	for _, sql := range []string{"ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"} {
		if err := o.server.execute("postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	o.eventually(t, "the standby hears nothing", "SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
}

// eventually waits until a query gives a row.
func (o *Own) eventually(t testing.TB, what, query string) {
	t.Helper()
	check := "DO $$ BEGIN ASSERT EXISTS (" + query + "); END $$"
	for began := time.Now(); o.server.execute("postgres", check) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// copy makes the cluster in o's folder a copy of another server's.
func (o *Own) copy(from *Own) error {
	as, err := unprivileged(o.dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	backup := exec.CommandContext(ctx, filepath.Join(o.programs, "pg_basebackup"), "-h", from.dir, "-U", "mulligan", "-D", filepath.Join(o.dir, "data"), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	backup.SysProcAttr, backup.Dir = as, o.dir
	if out, err := backup.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %.500s", err, out)
	}
	return nil
}

// Promote makes a standby take over.
func (o *Own) Promote() error { return o.server.execute("postgres", "SELECT pg_promote()") }
