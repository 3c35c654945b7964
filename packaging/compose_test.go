package packaging

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// site is where the files have their page; a test has it at a port that nobody else has.
const site = "127.0.0.1:8484"

// composed is a project of one of compose's files, with all that it names ready.
type composed struct {
	engine
	*testing.T
	command     []string
	environment []string
}

func compose(t *testing.T, file string) *composed {
	t.Helper()
	if testing.Short() {
		t.Skip("builds an image")
	}
	c := &composed{engine: anEngine(t), T: t, environment: append(os.Environ(), "MULLIGAN_DB_PASSWORD=only-for-a-test")}
	if c.program == "podman" {
		c.environment = append(c.environment, "DOCKER_HOST=unix://"+c.socket(t))
	}
	tool := c.composer()
	if tool == nil {
		t.Skipf("NOT TESTED: %s was not started, because there is no compose here: make .cache/bin/docker-compose", file)
	}
	c.environment = append(c.environment, "MULLIGAN_IMAGE="+c.image(t))
	c.command = slices.Concat(tool, []string{"--project-name", fmt.Sprintf("mulligan-test-%d", os.Getpid()), "--file", file})
	c.command = append(c.command, "--file", c.here())
	t.Cleanup(func() { _, _ = c.ask(context.WithoutCancel(t.Context()), "down", "--volumes") })
	if c.probes {
		ctx, stop := context.WithCancel(t.Context())
		t.Cleanup(stop)
		go c.probe(ctx)
	}
	c.says("up", "--detach", "--wait", "--wait-timeout", "300")
	return c
}

// composer is Docker's compose: what comes with Docker, or what make builds.
func (c *composed) composer() []string {
	for _, tool := range [][]string{{"docker", "compose"}, {"../.cache/bin/docker-compose"}} {
		c.command = tool
		if _, err := c.ask(c.Context(), "version"); err == nil {
			return tool
		}
	}
	return nil
}

// ask is for a command of compose's; what it prints to people is in the error.
func (c *composed) ask(ctx context.Context, args ...string) (string, error) {
	args = append(c.command[1:len(c.command):len(c.command)], args...)
	cmd := exec.CommandContext(ctx, c.command[0], args...)
	cmd.Env = c.environment
	var aside bytes.Buffer
	cmd.Stderr = &aside
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, out, &aside)
	}
	return strings.TrimSpace(string(out)), err
}

func (c *composed) says(args ...string) string {
	c.Helper()
	out, err := c.ask(c.Context(), args...)
	if err != nil {
		c.Fatal(err)
	}
	return out
}

// here writes a second compose file in which the images run this machine's programs, and the page
// has a port of its own.
func (c *composed) here() string {
	c.Helper()
	var project struct {
		Services map[string]struct {
			Image string
			Ports []struct{ Published string }
		}
	}
	if err := json.Unmarshal([]byte(c.says("config", "--format", "json")), &project); err != nil {
		c.Fatal(err)
	}
	text := "services:\n"
	for name, s := range project.Services {
		text += fmt.Sprintf("  %s:\n    labels: {test: %q}\n", name, c.Name())
		if c.program == "podman" { // it may not have the right to raise them
			text += "    ulimits: {nofile: {soft: 1024, hard: 4096}, nproc: 4096}\n"
		}
		if len(s.Ports) > 0 {
			text += "    ports: !override [\"127.0.0.1::8484\"]\n"
		}
		if strings.Contains(s.Image, ":") && c.fetch(c.T, s.Image) {
			text += fmt.Sprintf("    volumes: [%q]\n", programs)
		}
	}
	dir := c.TempDir()
	write(c.T, dir, "here.yaml", text)
	return filepath.Join(dir, "here.yaml")
}

// socket has podman serve what Docker's programs speak.
func (e engine) socket(t *testing.T) string {
	t.Helper()
	if backend := e.does(t, "info", "--format", "{{.Host.NetworkBackend}}"); backend != "netavark" {
		t.Skipf("NOT TESTED: with podman's %s containers do not know each other by name: apt install netavark aardvark-dns", backend)
	}
	dir, err := os.MkdirTemp("", "") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "podman.sock")
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), e.program, append(append([]string{}, e.options...), "system", "service", "--time", "0", "unix://"+path)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	for range 100 {
		if _, err := os.Stat(path); err == nil {
			return path
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("podman does not serve")
	return ""
}

// probe asks for everybody's health, as systemd would have podman do.
func (e engine) probe(ctx context.Context) {
	for ctx.Err() == nil {
		ids, _ := e.can("ps", "--quiet")
		for _, id := range strings.Fields(ids) {
			_, _ = e.can("healthcheck", "run", id)
		}
		time.Sleep(time.Second)
	}
}

// page asks for something at the published port of a service.
func (c *composed) page(service, method, path, body, cookie string) (status int, cookies string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, "http://"+c.says("port", service, "8484")+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	req.Host = site
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", cookie)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	_ = resp.Body.Close()
	for _, got := range resp.Cookies() {
		cookies += got.Name + "=" + got.Value
	}
	return resp.StatusCode, cookies
}

// signIn uses the link that a member prints, at the page of a service.
func (c *composed) signIn(member, service string) (cookie string) {
	c.Helper()
	link := lastLine(c.says("exec", "-T", member, "mulligan", "login", "--url", "http://"+site))
	_, code, ok := strings.Cut(link, "http://"+site+"/#code=")
	status, cookie := c.page(service, http.MethodPost, "/v1/login", `{"code":"`+code+`"}`, "")
	if !ok || status != http.StatusNoContent || cookie == "" {
		c.Fatalf("%q signs in with %d and the cookie %q", link, status, cookie)
	}
	return cookie
}

// seen wants the list of runs, which only who is signed in sees.
func (c *composed) seen(service, cookie string) {
	c.Helper()
	if status, _ := c.page(service, http.MethodGet, "/v1/runs", "", cookie); status != http.StatusOK {
		c.Errorf("who signed in sees %d", status)
	}
}

// TestCompose starts what compose.yaml names. Mulligan is not healthy without its database.
func TestCompose(t *testing.T) {
	c := compose(t, "compose.yaml")
	c.seen("mulligan", c.signIn("mulligan", "mulligan"))
	if logs := c.says("logs", "mulligan"); !strings.Contains(logs, "store=postgres://mulligan@postgres/mulligan") || strings.Contains(logs, "only-for-a-test") {
		t.Errorf("it says\n%s", logs)
	}
	id := c.says("ps", "--quiet", "mulligan")
	if locked := c.does(t, "inspect", "--format", "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}}", id); !strings.HasPrefix(locked, "true [") || !strings.Contains(locked, "no-new-privileges") {
		t.Errorf("it runs with %s", locked)
	}
	c.says("kill", "postgres")
	if out, err := c.ask(t.Context(), "exec", "-T", "mulligan", "mulligan", "serve", "--probe"); err == nil {
		t.Errorf("without its database it is healthy: %s", out)
	}
}

// TestComposeCluster starts what compose.cluster.yaml names: who signed in at the balancer is known by
// all members, also after one was killed.
func TestComposeCluster(t *testing.T) {
	c := compose(t, "compose.cluster.yaml")
	if members := c.says("exec", "-T", "a", "mulligan", "members"); strings.Count(members, " all ") != 3 {
		t.Errorf("members:\n%s", members)
	}
	cookie := c.signIn("b", "balancer")
	for range 6 { // each member is asked
		c.seen("balancer", cookie)
	}
	c.says("kill", "b")
	for range 6 {
		c.seen("balancer", cookie)
	}
	c.seen("balancer", c.signIn("c", "balancer"))
}
