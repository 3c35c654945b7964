package pgtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pooled is Database through PgBouncer in transaction mode, which ends with the test.
func Pooled(t testing.TB) string {
	t.Helper()
	behind, err := pgx.ParseConfig(Database(t))
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("a store behind a pooler needs pgbouncer (apt-get install pgbouncer): %v", err)
	case err != nil:
		t.Skipf("NOT TESTED: a store behind a pooler needs pgbouncer (apt-get install pgbouncer): %v", err)
	}
	dir, err := os.MkdirTemp("", "pgtest") // not t.TempDir: a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pool(t, program, dir, behind)
	through := url.URL{
		Scheme: "postgres", User: url.User(behind.User), Path: "/" + behind.Database,
		RawQuery: url.Values{"host": {dir}, "sslmode": {"disable"}, "default_query_exec_mode": {"exec"}}.Encode(),
	}
	return through.String()
}

// pool starts pgbouncer with its socket in dir, until the test ends.
func pool(t testing.TB, program, dir string, behind *pgx.ConnConfig) {
	t.Helper()
	as, err := unprivileged(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := fmt.Sprintf("host=%s port=%d", behind.Host, behind.Port)
	if behind.Password != "" {
		server += " password=" + behind.Password
	}
	for name, text := range map[string]string{
		"users": fmt.Sprintf("%q %q\n", behind.User, behind.Password),
		"ini": "[databases]\n* = " + server + "\n[pgbouncer]\npool_mode=transaction\nauth_type=trust\nauth_file=" + filepath.Join(dir, "users") +
			"\nlisten_port=5432\nunix_socket_dir=" + dir + "\nmax_client_conn=500\ndefault_pool_size=20\nserver_idle_timeout=1\n",
	} {
		file := filepath.Join(dir, name)
		err := os.WriteFile(file, []byte(text), 0o600)
		if err == nil && as.Credential != nil {
			err = os.Chown(file, int(as.Credential.Uid), int(as.Credential.Gid))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const untilTheEnd = `"$@" </dev/null >"$0/log" 2>&1 & read _; kill -TERM $! 2>/dev/null; wait $!`
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", untilTheEnd, dir, program, filepath.Join(dir, "ini"))
	cmd.SysProcAttr, cmd.Dir = as, dir
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(in, cmd, dir) })
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", filepath.Join(dir, ".s.PGSQL.5432")) // there is a file before anybody listens
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Since(began) > patience {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("pgbouncer does not start: %v: %.500s", err, said)
		}
	}
}
