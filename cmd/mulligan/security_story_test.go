package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/server"
)

// client is a client of a serve that has an HTTP face.
type client struct {
	*background
	url, token string
}

func (h *home) serveHTTP(args ...string) *client {
	h.Helper()
	b := h.serve(append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	b.prints("msg=listening")
	c := &client{background: b, url: regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(b.printed())[1]}
	var err error
	if c.token, err = gateway.ReadToken(h.state()); err != nil {
		h.Fatal(err)
	}
	return c
}

func (h *home) state() string { return filepath.Join(h.dir, "state", "mulligan") }

// ask makes a request with the token and gives the whole answer, headers included.
func (c *client) ask(method, path, body string) (code int, answer string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	return resp.StatusCode, fmt.Sprint(resp.Header) + string(data)
}

const (
	canaryKey    = "sk-canary+key/7Gq=1b\"Zp4xW9t"
	canaryPrompt = "the canary sang at noon"
)

// echoing is a provider that repeats the key that it was given, in every spelling and place
// that it has: in a refusal, in the error of a stream, and in what its model says.
func echoing(t *testing.T) string {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		spelled, _ := json.Marshal(strings.Join(spellings(key), " ; "))
		w.Header().Set("Request-Id", key)
		w.Header().Set("X-Echo", key)
		if n++; n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"api_error","message":%s}}`, spelled)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"one","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`,
			`{"type":"error","error":{"type":"overloaded_error","message":` + string(spelled) + `}}`,
		} {
			kind := regexp.MustCompile(`"type":"(\w+)"`).FindStringSubmatch(event)[1]
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, event)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// spellings are the ways in which a key may come back.
func spellings(key string) []string {
	quoted, _ := json.Marshal(key)
	return []string{key, url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key)), string(quoted[1 : len(quoted)-1])}
}

// TestS14TheKeyIsNowhere, and S15, prompts are in no log: a run of a gateway whose provider
// repeats the key, looked at from every side: all that the API tells, what serve prints,
// and every byte of the state folder.
func TestS14TheKeyIsNowhere(t *testing.T) {
	h := newHome(t, "503")
	config := fmt.Sprintf("model: fable/one\nauto_recover: false\nproviders:\n  fable: {type: anthropic, base_url: %q, key_env: LAB_ACCESS}\n"+
		"plugins: [auto-recover, {name: tells, command: [sh, -c, 'echo \"it is $LAB_ACCESS\" >&2; exit 1'], env: [LAB_ACCESS]}]\n", echoing(t))
	if err := os.WriteFile(filepath.Join(h.dir, "mulligan.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "LAB_ACCESS="+canaryKey, "MULLIGAN_DEBUG=1")
	c := h.serveHTTP()
	var told strings.Builder
	tell := func(method, path, body string, want int) string {
		code, answer := c.ask(method, path, body)
		if code != want {
			t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}
		told.WriteString(answer)
		return answer
	}
	id := regexp.MustCompile(`"id":"(r\w+)"`).FindStringSubmatch(tell("POST", "/v1/runs", `{"prompt":"`+canaryPrompt+`"}`, 201))[1]
	path := "/v1/runs/" + id
	failed := func() bool { return strings.Contains(tell("GET", path, "", 200), `"status":"failed"`) }
	c.until("the refusal fails the run", failed)
	tell("POST", path+"/recover", `{"action":"retry"}`, 202)
	c.until("the stream's error fails the run", failed)
	for _, list := range []string{"/v1/runs", "/v1/suggestions", "/v1/models", "/v1/plugins"} {
		tell("GET", list, "", 200)
	}
	if plugins := tell("GET", "/v1/plugins", "", 200); !strings.Contains(plugins, "it is [redacted]") {
		t.Errorf("a plugin that has the key does not tell it: the test looks in the wrong place: %s", plugins)
	}
	tell("POST", path+"/cancel", "", 202)
	if events := tell("GET", path+"/events", "", 200); strings.Count(events, `"failed"`) < 2 {
		t.Errorf("the run failed otherwise than it should: %s", events)
	}
	tell("POST", "/v1/runs", `{"prompt":"`+canaryPrompt+`","model":7}`, 422)
	c.stop()
	for _, secret := range append(spellings(canaryKey), c.token) {
		for where, text := range map[string]string{"the API": told.String(), "what serve printed": c.printed()} {
			if strings.Contains(text, secret) {
				t.Errorf("a key is in %s", where)
			}
		}
		nowhereIn(t, h.state(), secret)
	}
	if strings.Contains(c.printed(), canaryPrompt) {
		t.Errorf("S15: a prompt is in the log:\n%s", c.printed())
	}
	if !strings.Contains(told.String(), canaryPrompt) {
		t.Error("the API does not tell what was said: the test looks in the wrong place")
	}
}

// nowhereIn looks for a secret in every file but the token's own.
func nowhereIn(t *testing.T, dir, secret string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "token" {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("a key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestS03LogInWithALink: the link of login lets a browser in once, and rotation throws out
// whoever is in.
func TestS03LogInWithALink(t *testing.T) {
	h := newHome(t, "answer:ok")
	if out := h.mulligan(1, "login"); out != "" {
		t.Errorf("without a gateway there is a link: %s", out)
	}
	c := h.serveHTTP()
	link := strings.TrimSpace(h.mulligan(0, "login"))
	at, code, ok := strings.Cut(link, "/#code=")
	if !ok || at != c.url {
		t.Fatalf("the link is %s", link)
	}
	cookie := logInWith(t, c.url, code, http.StatusNoContent)
	logInWith(t, c.url, code, http.StatusUnauthorized)
	runs := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+"/v1/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(cookie)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := runs(); got != http.StatusOK {
		t.Errorf("the session: %d", got)
	}
	h.mulligan(0, "login", "--rotate")
	c.until("the old session is refused", func() bool { return runs() == http.StatusUnauthorized || runs() == http.StatusTooManyRequests })
	if code, _ := c.ask("GET", "/v1/runs", ""); code == http.StatusOK {
		t.Error("the old token holds")
	}
	c.stop()
	for _, secret := range []string{c.token, code, cookie.Value} {
		if strings.Contains(c.printed(), secret) {
			t.Error("a secret was printed")
		}
	}
}

func logInWith(t *testing.T, at, code string, want int) *http.Cookie {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/v1/login", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != want {
		t.Fatalf("the login: %d", resp.StatusCode)
	}
	for _, cookie := range resp.Cookies() {
		return cookie
	}
	return nil
}

// TestS30TheAuditSeesHowAGatewayIsBound: on loopback, and where others reach it (S01).
func TestS30TheAuditSeesHowAGatewayIsBound(t *testing.T) {
	h := newHome(t, "answer:ok")
	c := h.serveHTTP()
	want := fmt.Sprintf("✓ S01 the gateway of process %d is reached from this machine alone (%s)\n", c.cmd.Process.Pid, strings.TrimPrefix(c.url, "http://"))
	if out := h.mulligan(0, "doctor", "--audit"); !strings.Contains(out, want) {
		t.Errorf("the audit says\n%snot\n%s", out, want)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait() // it was killed
	if out := h.mulligan(0, "doctor", "--audit"); !strings.Contains(out, "S01 no gateway runs") {
		t.Errorf("of a gateway that was killed the audit says\n%s", out)
	}
	exposed := &server.Listening{PID: os.Getpid(), Address: "0.0.0.0:8484"}
	if err := exposed.Announce(h.state()); err != nil {
		t.Fatal(err)
	}
	if out := h.mulligan(1, "doctor", "--audit"); !strings.Contains(out, "✗ S01 the gateway of process") || !strings.Contains(out, "--tls-cert") {
		t.Errorf("of an exposed gateway the audit says\n%s", out)
	}
	if err := exposed.Withdraw(h.state()); err != nil {
		t.Error(err)
	}
}
