package cluster

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// member is one place for `mulligan serve`, which is started and ended again and again.
type member struct {
	*cluster
	dir   string
	link  *relay
	other string // another program than the other members run; "" = the same

	mu     sync.Mutex
	cmd    *exec.Cmd
	lines  []string // its last lines of output
	url    string
	token  string
	name   string // as the owner of its runs
	client *client.Client
	over   chan struct{} // closed when the process has ended
}

func (c *cluster) newMember(name string) *member {
	c.Helper()
	m := &member{cluster: c, dir: filepath.Join(c.dir, name), link: newRelay(c.T, c.db.Socket())}
	config := fmt.Sprintf(`model: lab/talk
providers:
  lab: {type: anthropic, base_url: %q, key_env: LAB_KEY}
store: %q
plugins:
  - {name: auto-recover, deadline: 5s, config: {retries: {delays: [10ms], jitter: 0}}}
tools:
  - {name: pay, description: Pay, command: [/bin/sh, -c, 'echo "$MULLIGAN_CALL_ID" >> "$0"', %q], safety: unsafe}
`, c.provider, m.link.url(), c.journal())
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "mulligan.yaml"), []byte(config), 0o600); err != nil {
		c.Fatal(err)
	}
	return m
}

// start starts the process, and waits until the other members know it.
func (m *member) start() {
	m.Helper()
	cmd := exec.CommandContext(m.all, cmp.Or(m.other, m.program), append([]string{"serve", "--listen", "127.0.0.1:0", "--json"}, m.flags...)...)
	cmd.Dir = m.dir
	cmd.Env = m.environment()
	out, err := cmd.StdoutPipe()
	if err == nil {
		cmd.Stderr = cmd.Stdout
		err = cmd.Start()
	}
	if err != nil {
		m.Fatal(err)
	}
	over, urls := make(chan struct{}), make(chan string, 1)
	m.mu.Lock()
	m.cmd, m.over = cmd, over
	m.mu.Unlock()
	go func() {
		defer close(over)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			m.hear(lines.Text(), urls)
		}
		_ = cmd.Wait()
	}()
	var url string
	select {
	case url = <-urls:
	case <-over:
		m.Fatalf("a member ends: %s", strings.Join(m.lines, "\n"))
	case <-time.After(timeout):
		m.Fatal("a member does not listen")
	}
	token, err := gateway.ReadToken(filepath.Join(m.dir, "state", "mulligan"))
	if err != nil {
		m.Fatal(err)
	}
	asking, err := client.New(url, client.WithToken(token))
	if err != nil {
		m.Fatal(err)
	}
	m.mu.Lock()
	m.url, m.token, m.client = url, token, asking
	m.mu.Unlock()
	m.eventually("it is a member", func() bool {
		name := m.nameAt(url)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.name = name
		return name != ""
	})
}

// becomes replaces the process by another program; "" = the one that the others run.
func (m *member) becomes(program string) {
	m.Helper()
	m.signal(syscall.SIGTERM)
	m.gone()
	m.other = program
	m.start()
}

// environment is the environment of its programs.
func (m *member) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "TMPDIR=" + m.temp, "LAB_KEY=any", "NO_COLOR=1", "XDG_STATE_HOME=" + filepath.Join(m.dir, "state")}
}

// hear handles a line of its output.
func (m *member) hear(line string, urls chan<- string) {
	var said struct{ Msg, URL string }
	if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "listening" {
		urls <- said.URL
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	const most = 20
	if m.lines = append(m.lines, line); len(m.lines) > most {
		m.lines = m.lines[1:]
	}
}

func (m *member) owner() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.name
}

// signal sends a signal to its process.
func (m *member) signal(s syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.cmd.Process.Signal(s)
}

// gone waits until its process has ended.
func (m *member) gone() {
	m.Helper()
	m.mu.Lock()
	over := m.over
	m.mu.Unlock()
	select {
	case <-over:
	case <-time.After(timeout):
		m.Fatal("a member does not end")
	}
}

// follow requests a run's events after a sequence number.
func (m *member) follow(ctx context.Context, run string, after uint64) (*http.Response, error) {
	m.mu.Lock()
	url, token := m.url, m.token
	m.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/runs/"+run+"/events", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if after > 0 {
		req.Header.Set("Last-Event-ID", fmt.Sprint(after))
	}
	return http.DefaultClient.Do(req)
}
