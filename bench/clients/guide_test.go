package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const guide = "../../docs/proxy.md"

// block is a program or some commands in the guide.
var block = regexp.MustCompile("(?s)```(sh|python|js)\n(.*?)```")

// blocks are the guide's blocks in a language.
func blocks(t *testing.T, language string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		if found[1] == language {
			list = append(list, found[2])
		}
	}
	if len(list) == 0 {
		t.Errorf("the guide has nothing in %s", language)
	}
	return list
}

// overloaded is the fault of a provider whose first model is overloaded.
var overloaded = faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == "529 overloaded, from then on" })]

// TestGuide: each complete program in the guide gets its answer although the provider behind the
// proxy is overloaded.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs: run make test-all")
	}
	s := set(t)
	for language, start := range map[string]client{
		"python": {needs: "python/bin/python", plain: true},
		"js":     {needs: "node/node_modules/ai", plain: true},
	} {
		for i, text := range blocks(t, language) {
			t.Run(fmt.Sprintf("%s %d", language, i+1), func(t *testing.T) {
				c := start
				s.installed(t, c)
				file := filepath.Join(s.node, fmt.Sprintf("app%d.mjs", i))
				c.program = func(tools *tools) []string { return []string{tools.module(".bin/node"), file} }
				if language == "python" {
					file = filepath.Join(s.node, fmt.Sprintf("app%d.py", i))
					c.program = func(tools *tools) []string {
						return []string{filepath.Join(tools.cache, "python", "bin", "python"), file}
					}
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if p := s.play(t, c, overloaded, true); p.verdict != right || p.line != "1 call rescued: 1 switched to healthy; 0 lost" {
					t.Errorf("%s, %s: %s", p.verdict, p.line, p.out)
				}
			})
		}
	}
}

// TestGuideNames: every program that the guide starts behind the proxy is played by a test.
func TestGuideNames(t *testing.T) {
	played := []string{"claude", "codex", "opencode", "aider", "llm", "python", "node"} // TestGuide plays the last two
	for _, text := range blocks(t, "sh") {
		for line := range strings.Lines(text) {
			_, program, ok := strings.Cut(strings.TrimSpace(line), "mulligan proxy -- ")
			if name, _, _ := strings.Cut(program, " "); ok && !slices.Contains(played, name) {
				t.Errorf("nothing plays %q", line)
			}
		}
	}
	for _, name := range played[:5] {
		if !slices.ContainsFunc(clients, func(c client) bool {
			return filepath.Base(c.program(&tools{})[0]) == name
		}) {
			t.Errorf("%s is played by none of the clients", name)
		}
	}
}

// TestStandsByItself: without a program the proxy answers every caller that has the installation's
// token.
func TestStandsByItself(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs: run make test-all")
	}
	s := set(t)
	sc := newScriptedProvider(overloaded, true, "")
	defer sc.close()
	home := t.TempDir()
	config, state := filepath.Join(home, "mulligan.yaml"), filepath.Join(home, "state")
	if err := os.WriteFile(config, []byte(strings.ReplaceAll(routes, "LAB", sc.server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.mulligan, "proxy", "--json", "--config", config, "--state", state, "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "PROVIDER_KEY=any-key-of-a-test", "HOME="+home)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said struct{ URL string }
	for said.URL == "" && lines.Scan() {
		_ = json.Unmarshal(lines.Bytes(), &said)
	}
	token, err := os.ReadFile(filepath.Join(state, "token"))
	if err != nil || said.URL == "" {
		t.Fatalf("%q, %v", said.URL, err)
	}
	for path, body := range map[string]string{
		"/v1/messages":         `{"model":"claude-sonnet-4-5","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1/chat/completions": `{"model":"gpt-5.2","messages":[{"role":"user","content":"hi"}]}`,
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, said.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", strings.TrimSpace(string(token)))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		_, _ = text.ReadFrom(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(text.String(), answer) || resp.Header.Get("X-Mulligan-Model") != "backup/"+healthy {
			t.Errorf("%s: %d %v %s", path, resp.StatusCode, resp.Header, text.String())
		}
	}
	cancel()
	for lines.Scan() {
		t.Log(lines.Text())
	}
	_ = cmd.Wait() // it was stopped
}
