package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is how long a server may take to start on a busy machine.
const patience = 2 * time.Minute

// server is a server of this process, started when it is first needed.
type server struct {
	settings []string // of postgres, each name=value

	once sync.Once
	url  string
	err  error
	stop func() // nil = it is not ours to stop

	mu   sync.Mutex
	made []string // databases that were created
	free []string // those of them that no test has
}

// fast loses what was written if the machine fails; durable does not.
var (
	fast    = &server{settings: []string{"fsync=off", "shared_buffers=32MB"}}
	durable = &server{settings: []string{"shared_buffers=128MB"}}
)

// Main runs the tests, and stops what they have started.
func Main(m *testing.M) int {
	defer End()
	return m.Run()
}

// End stops what this process has started, and waits until it is gone.
func End() {
	fast.end()
	durable.end()
}

func (s *server) end() {
	if s.stop != nil {
		s.stop()
		return
	}
	for _, name := range s.made {
		if err := s.execute("postgres", "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
		}
	}
}

// Database gives the URL of an empty database, which belongs to the test until its end. Its server,
// if it is started here, does not sync.
func Database(t testing.TB) string {
	t.Helper()
	return fast.database(t)
}

// Durable is Database on a server that syncs, for measurements.
func Durable(t testing.TB) string {
	t.Helper()
	return durable.database(t)
}

// Take is Durable for a program that measures, which calls End. The database stays the program's.
func Take() (url string, err error) {
	durable.once.Do(durable.start)
	if durable.err != nil {
		return "", fmt.Errorf("a store in PostgreSQL needs initdb and postgres (apt-get install postgresql), or MULLIGAN_POSTGRES: %w", durable.err)
	}
	name, err := durable.take()
	return durable.at(name), err
}

// needed skips a test if there is no server, and fails it with CI=true.
func needed(t testing.TB, err error) {
	t.Helper()
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("a store in PostgreSQL needs initdb and postgres (apt-get install postgresql), or MULLIGAN_POSTGRES: %v", err)
	case err != nil:
		t.Skipf("NOT TESTED: a store in PostgreSQL needs initdb and postgres (apt-get install postgresql), or MULLIGAN_POSTGRES: %v", err)
	}
}

func (s *server) database(t testing.TB) string {
	t.Helper()
	s.once.Do(s.start)
	needed(t, s.err)
	name, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.empty(name); err != nil {
			t.Error(err)
		}
	})
	return s.at(name)
}

// take gives a database that no test has: creating one takes longer than emptying one.
func (s *server) take() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		name := s.free[last]
		s.free = s.free[:last]
		return name, nil
	}
	name := "mulligan_" + strings.ToLower(rand.Text())
	if err := s.execute("postgres", "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return "", err
	}
	s.made = append(s.made, name)
	return name, nil
}

// empty disconnects everybody from a database, and removes what is in it.
func (s *server) empty(name string) error {
	err := s.execute(name, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err == nil {
		err = s.execute(name, "DROP SCHEMA IF EXISTS mulligan CASCADE")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.free = append(s.free, name)
	}
	return err
}

// at is the URL of one of the server's databases.
func (s *server) at(name string) string {
	address, err := url.Parse(s.url)
	if err != nil {
		return s.url // pgx says what is wrong with it
	}
	address.Path = "/" + name
	return address.String()
}

// execute runs one statement in a database.
func (s *server) execute(database, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.at(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

func (s *server) start() {
	if s.url = os.Getenv("MULLIGAN_POSTGRES"); s.url != "" {
		s.err = s.execute("postgres", "SELECT 1")
		return
	}
	var programs string
	if programs, s.err = find(); s.err != nil {
		return
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		s.err = err
		return
	}
	s.url, s.stop, s.err = s.launch(programs, dir)
	if s.err != nil {
		s.err = errors.Join(s.err, os.RemoveAll(dir))
	}
}

// find is the folder with initdb and postgres: on the PATH, or the newest of those where Debian
// puts them.
func find() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("there is none on the PATH or in /usr/lib/postgresql")
	}
	slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
	return filepath.Dir(found[len(found)-1]), nil
}

// addressOf is the URL of a server with its socket in dir.
func addressOf(dir string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("mulligan"), Path: "/postgres", RawQuery: url.Values{"host": {dir}, "sslmode": {"disable"}}.Encode()}).String()
}

// launch creates a cluster in dir and starts a server with its socket there. Its shell stops the
// server when this process ends, in whatever way, and removes dir.
func (s *server) launch(programs, dir string) (address string, stop func(), err error) {
	if err := s.create(programs, dir); err != nil {
		return "", nil, err
	}
	cmd, in, err := s.begin(programs, dir, "; cd / && rm -rf \"$0\"")
	if err != nil {
		return "", nil, err
	}
	stop = sync.OnceFunc(func() { end(in, cmd, dir) })
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err = s.execute("postgres", "SELECT 1"); err == nil {
			return s.url, stop, nil
		}
		if time.Since(began) > patience {
			said, _ := os.ReadFile(filepath.Join(dir, "postgres.log"))
			stop()
			return "", nil, fmt.Errorf("the server does not start: %w: %.500s", err, said)
		}
	}
}

func end(in io.Closer, cmd *exec.Cmd, dir string) {
	_ = in.Close()
	_ = cmd.Wait()
	_ = os.RemoveAll(dir)
}

// unprivileged says how to run a program that refuses to be root: as another user, who gets dir.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{Setpgid: true}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		who, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(who.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(who.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}},
			os.Chown(dir, int(uid), int(gid))
	}
	return nil, errors.New("postgres does not run as root, and there is no user postgres or nobody")
}
