package packaging

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// engine builds and runs images: docker, or podman as root with a store of its own.
type engine struct {
	program string
	options []string // of every command
	run     []string // of what is run
	probes  bool     // somebody has to ask for the health; docker does it itself
}

// can says what the engine says.
func (e engine) can(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, e.program, append(append([]string{}, e.options...), args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (e engine) does(t *testing.T, args ...string) string {
	t.Helper()
	out, err := e.can(args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", e.program, strings.Join(args, " "), err, out)
	}
	return out
}

// anEngine is the one that runs here. Not every machine of the continuous integration has one.
func anEngine(t *testing.T) engine {
	t.Helper()
	docker := engine{program: "docker"}
	said, err := docker.can("info")
	if err == nil {
		return docker
	}
	if os.Geteuid() != 0 {
		t.Skipf("NOT TESTED: no image was built or run, because no docker runs here (and podman would have to be root's): %v\n%s", err, said)
	}
	store := t.TempDir()
	podman := engine{
		program: "podman", probes: true,
		options: []string{"--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run"), "--storage-driver", "vfs"},
		run:     []string{"--ulimit", "nofile=1024:4096", "--ulimit", "nproc=4096:4096"}, // it may not have the right to raise them
	}
	if path, err := exec.LookPath("runc"); err == nil { // the other runtime does without some mounts of control groups
		podman.options = append(podman.options, "--runtime", path)
	}
	if out, perr := podman.can("info"); perr != nil {
		t.Skipf("NOT TESTED: no image was built or run, because neither docker nor podman runs here: %v, %v\n%s\n%s", err, perr, said, out)
	}
	return podman
}

// image builds the image, out of what git has here, and gives its tag, until the test's end.
func (e engine) image(t *testing.T) (tag string) {
	t.Helper()
	tag = fmt.Sprintf("mulligan-test-%d", os.Getpid())
	from := sources(t, ".")
	build := []string{"build", "--file", filepath.Join(from, "packaging", "Dockerfile"), "--tag", tag}
	for _, base := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(read(t, "Dockerfile"), -1) {
		if base[1] != "scratch" && e.fetch(t, base[1]) {
			build = append(build, building(t)...)
		}
	}
	if e.program == "podman" {
		build = append(build, "--format", "docker") // the other one has no health
	}
	e.does(t, append(build, from)...)
	t.Cleanup(func() { _, _ = e.can("rmi", "--force", tag) })
	return tag
}

// healthy waits until a container is.
func (e engine) healthy(t *testing.T, container string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Second) {
		if e.probes {
			_, _ = e.can("healthcheck", "run", container)
		}
		state, err := e.can("inspect", "--format", "{{.State.Running}} {{.State.Health.Status}}", container)
		if err == nil && state == "true healthy" {
			return
		}
		if strings.HasPrefix(state, "false") || time.Since(began) > 3*time.Minute {
			logs, _ := e.can("logs", container)
			t.Fatalf("%s %v\n%s", state, err, logs)
		}
	}
}

// TestImage is healthy without root, and with a root that cannot be written to, and has nothing in it
// but the program and what that needs.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds an image")
	}
	e := anEngine(t)
	tag := e.image(t)
	id := lastLine(e.does(t, append(append([]string{
		"run", "--detach", "--network", "none", "--read-only", "--tmpfs", "/tmp",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges",
	}, e.run...), tag)...))
	t.Cleanup(func() { _, _ = e.can("rm", "--force", "--volumes", id) })
	e.healthy(t, id)
	if user := e.does(t, "inspect", "--format", "{{.Config.User}} {{.HostConfig.ReadonlyRootfs}}", id); user != "65532:65532 true" {
		t.Errorf("user and root: %s", user)
	}
	if out, err := e.can("exec", id, "/bin/sh", "-c", "true"); err == nil {
		t.Errorf("it has a shell: %s", out)
	}
	if said := e.does(t, "exec", id, "mulligan", "login", "--url", "http://127.0.0.1:8484"); !strings.Contains(said, "http://127.0.0.1:8484/") {
		t.Errorf("login said %q", said)
	}
	all := filepath.Join(t.TempDir(), "all.tar")
	e.does(t, "export", "--output", all, id)
	if files := run(t, "", "tar", "-tf", all); !strings.Contains(files, "etc/ssl/certs/ca-certificates.crt") || strings.Contains(files, "\nbin/") {
		t.Errorf("it has\n%s", files)
	}
	e.does(t, "stop", "-t", "20", id)
	if code := e.does(t, "inspect", "--format", "{{.State.ExitCode}}", id); code != "0" {
		t.Errorf("it ends with status %s", code)
	}
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }
