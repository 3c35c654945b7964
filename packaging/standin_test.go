package packaging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programs is a container's way to this machine's programs: nothing of them is in the image.
const programs = "/usr:/usr:ro"

// fetch has an image that a file names. Where no registry is reached podman builds one on this machine
// instead, which runs this machine's programs once they are mounted.
func (e engine) fetch(t *testing.T, image string) (stoodIn bool) {
	t.Helper()
	out, err := e.can("pull", image)
	if err == nil {
		return false
	}
	name, _, _ := strings.Cut(image, ":")
	standIn := map[string]func(t *testing.T, dir string) string{"golang": goHere, "postgres": postgresHere, "haproxy": haproxyHere}[name]
	if e.program != "podman" || standIn == nil {
		t.Skipf("NOT TESTED: nothing was built or run, because %s cannot be had here: %v\n%s", image, err, out)
	}
	t.Logf("NOT TESTED: %s itself, which cannot be had here; instead of it this machine's %s is run: %s", image, name, lastLine(out))
	dir := t.TempDir()
	for _, name := range []string{"usr", "etc", "tmp"} {
		folder(t, filepath.Join(dir, "root", name))
	}
	for _, name := range []string{"bin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+name, filepath.Join(dir, "root", name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "Dockerfile", "FROM scratch\nCOPY root /\n"+standIn(t, dir))
	e.does(t, "build", "--tag", "docker.io/library/"+image, dir)
	return true
}

func folder(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // a user of the image's looks into it
		t.Fatal(err)
	}
}

func goHere(t *testing.T, dir string) string {
	t.Helper()
	for _, name := range []string{"etc/ssl", "go", "goroot", "gocache"} {
		folder(t, filepath.Join(dir, "root", name))
	}
	return "ENV PATH=/goroot/bin:/bin GOROOT=/goroot GOPATH=/go GOCACHE=/gocache GOPROXY=" + run(t, "", "go", "env", "GOPROXY") + "\n"
}

// building are the options by which goHere's image finds what it runs.
func building(t *testing.T) (options []string) {
	t.Helper()
	for from, to := range map[string]string{
		"/usr": "/usr:ro", "/etc/ssl": "/etc/ssl:ro", run(t, "", "go", "env", "GOROOT"): "/goroot:ro",
		run(t, "", "go", "env", "GOMODCACHE"): "/go/pkg/mod", run(t, "", "go", "env", "GOCACHE"): "/gocache",
	} {
		options = append(options, "--volume", from+":"+to)
	}
	return append(options, "--pull-never", "--isolation", "chroot", "--network", "host")
}

// postgresServes does what the entry point of PostgreSQL's own image does of what compose.yaml asks for.
const postgresServes = `#!/bin/sh
set -e
data=/var/lib/postgresql/data
if ! test -s $data/PG_VERSION; then
	echo "$POSTGRES_PASSWORD" |
		initdb --pgdata $data --username "$POSTGRES_USER" --pwfile /dev/stdin --auth-local trust --auth-host scram-sha-256
	echo "host all all all scram-sha-256" >>$data/pg_hba.conf
	echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D $data postgres
fi
exec postgres -D $data -c "listen_addresses=*" -c "unix_socket_directories=$PGHOST"
`

func postgresHere(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(all) == 0 {
		t.Skipf("NOT TESTED: nothing was run, because there is no PostgreSQL here: apt install postgresql (%v)", err)
	}
	const home = "/var/lib/postgresql"
	folder(t, filepath.Join(dir, "home", "data"))
	write(t, dir, "passwd", "postgres:x:70:70::"+home+":/bin/sh\n")
	write(t, dir, "serve", postgresServes)
	return "COPY --chown=70:70 home " + home + "\nCOPY --chown=70:70 passwd /etc/\nCOPY --chown=70:70 serve /\n" +
		"ENV PATH=" + all[len(all)-1] + ":/usr/bin PGHOST=" + home + "\nUSER 70:70\nENTRYPOINT [\"/bin/sh\", \"/serve\"]\n"
}

func haproxyHere(t *testing.T, dir string) string {
	t.Helper()
	if _, err := os.Stat("/usr/sbin/haproxy"); err != nil {
		t.Skipf("NOT TESTED: nothing was run, because there is no balancer here: apt install haproxy (%v)", err)
	}
	folder(t, filepath.Join(dir, "root", "etc", "haproxy"))
	return "ENV PATH=/usr/sbin\nUSER 99:99\n"
}
