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

// Own is a server that a test has to itself, so that it may stop and start it. It does not sync:
// what was written survives a crash of the server, though not of the machine.
type Own struct {
	server   server
	programs string
	dir      string
	in       io.Closer
	cmd      *exec.Cmd
}

// Begin starts a server, which ends with the test.
func Begin(t testing.TB) *Own {
	t.Helper()
	programs, err := find()
	needed(t, err)
	o := &Own{server: server{settings: fast.settings}, programs: programs}
	if o.dir, err = os.MkdirTemp("", "pgtest"); err != nil { // not t.TempDir: a socket's path must be short
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(o.dir) })
	if err = o.server.create(programs, o.dir); err == nil {
		err = o.Start()
	}
	needed(t, err)
	t.Cleanup(o.Crash)
	return o
}

// Socket is the path of the socket on which it listens.
func (o *Own) Socket() string { return filepath.Join(o.dir, ".s.PGSQL.5432") }

// URL is the URL of its database.
func (o *Own) URL() string { return o.server.url }

// Crash kills the server in the middle of whatever it does.
func (o *Own) Crash() {
	_ = o.in.Close()
	_ = o.cmd.Wait()
}

// Start starts the server again, and waits until it answers.
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

// create creates a cluster in dir.
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

// begin starts a server on the cluster in dir, with a socket there. Its shell stops the server when
// in is closed, and so when this process ends in whatever way, and then runs afterwards.
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
