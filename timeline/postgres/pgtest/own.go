package pgtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Own is a server that a test has for itself, so that it may end and begin again. It does not sync:
// what the server's process has written outlives that, though not the machine.
type Own struct {
	server   server
	programs string
	dir      string
	in       io.Closer
	cmd      *exec.Cmd
}

// Begin starts one, which ends with the test.
func Begin(t testing.TB) *Own {
	t.Helper()
	programs, err := find()
	needed(t, err)
	o := &Own{server: server{settings: fast.settings}, programs: programs}
	if o.dir, err = os.MkdirTemp("", "pgtest"); err != nil { // a socket's path is short
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(o.dir) })
	if err = o.server.create(programs, o.dir); err == nil {
		err = o.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Crash)
	return o
}

// Socket is the path at which it listens.
func (o *Own) Socket() string { return filepath.Join(o.dir, ".s.PGSQL.5432") }

// URL is that of its database.
func (o *Own) URL() string { return o.server.url }

// Crash ends it in the middle of whatever it does.
func (o *Own) Crash() {
	_ = o.in.Close()
	_ = o.cmd.Wait()
}

// Start has it begin again, and waits until it answers.
func (o *Own) Start() (err error) {
	if o.cmd, o.in, err = o.server.begin(o.programs, o.dir, ""); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err = o.server.execute("postgres", "SELECT 1"); err == nil {
			return nil
		}
		if time.Since(began) > patience {
			said, _ := os.ReadFile(filepath.Join(o.dir, "postgres.log"))
			return fmt.Errorf("the server does not start: %w: %.500s", err, said)
		}
	}
}

// create makes a cluster in dir.
func (s *server) create(programs, dir string) error {
	as, err := unprivileged(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	initdb := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "mulligan", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %.500s", err, out)
	}
	return nil
}

// begin starts a server on the cluster in dir, which is reached by a socket there. Its shell ends it
// when in is closed, and so when this process ends, however that is, and does something afterwards.
func (s *server) begin(programs, dir, afterwards string) (cmd *exec.Cmd, in io.Closer, err error) {
	as, err := unprivileged(dir)
	if err != nil {
		return nil, nil, err
	}
	const untilTheEnd = `"$@" </dev/null >>postgres.log 2>&1 & read _; kill -QUIT $! 2>/dev/null; wait $!`
	args := []string{"-c", untilTheEnd + afterwards, dir, filepath.Join(programs, "postgres"), "-D", filepath.Join(dir, "data"), "-k", dir, "-c", "listen_addresses=", "-c", "max_connections=200"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	cmd = exec.CommandContext(context.Background(), "/bin/sh", args...)
	cmd.SysProcAttr, cmd.Dir = as, dir
	in, err = cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	s.url = addressOf(dir)
	return cmd, in, err
}
