package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/health"
)

const pastedKey = "sk-ant-canary-0123456789abcdef"

// desk is one of a state folder of its own, where no key is in the environment and Anthropic is a lab.
func desk(t *testing.T, dir, lab string) *keyDesk {
	t.Helper()
	for _, usual := range usualModels {
		t.Setenv(usual.key, "")
	}
	c := &config.Config{State: dir, Providers: map[string]config.Provider{"anthropic": {BaseURL: lab, KeyEnv: "ANTHROPIC_API_KEY"}}}
	m, err := NewModels(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return &keyDesk{c, m, health.New()}
}

func labOf(t *testing.T, steps ...faultlab.Step) string {
	t.Helper()
	lab := faultlab.New()
	lab.Script("claude-sonnet-4-5", steps...)
	s, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = lab.Close(), s.Close() })
	return s.URL()
}

// TestAKeyThatIsPasted is used at once, by this process and by others of the state folder, until it is
// removed; no text shows it.
func TestAKeyThatIsPasted(t *testing.T) {
	dir := t.TempDir()
	lab := labOf(t, faultlab.Answer("ready"))
	here, there := desk(t, dir, lab), desk(t, dir, lab)
	if got := here.models.usualModel(here.config); got != "" {
		t.Fatalf("without a key %s is asked", got)
	}
	if tried := here.Try(t.Context(), "anthropic"); tried.Answered || tried.Failure == nil || tried.Failure.Kind != failure.KindAuth {
		t.Errorf("without a key: %+v", tried)
	}
	if err := here.Keep("anthropic", pastedKey); err != nil {
		t.Fatal(err)
	}
	if got := here.models.Redact("the key is " + pastedKey); strings.Contains(got, pastedKey) {
		t.Error("it is not known as a secret")
	}
	for _, k := range []*keyDesk{here, there} {
		if got := k.models.usualModel(k.config); got != "anthropic/claude-sonnet-4-5" || k.models.keyFrom("ANTHROPIC_API_KEY") != KeyKept {
			t.Errorf("%s is asked, by a key from %q", got, k.models.keyFrom("ANTHROPIC_API_KEY"))
		}
		if tried := k.Try(t.Context(), "anthropic"); !tried.Answered {
			t.Errorf("%+v", tried.Failure)
		}
	}
	for _, p := range here.Listed().Providers {
		if p.Kept != (p.Name == "anthropic") || p.Name == "anthropic" && (p.From != KeyKept || p.Model == "") {
			t.Errorf("%+v", p)
		}
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
	if got := here.models.env("ANTHROPIC_API_KEY"); got != "sk-of-the-environment" {
		t.Errorf("%q counts", got)
	}
	t.Setenv("ANTHROPIC_API_KEY", "")
	if err := there.Forget("anthropic"); err != nil || here.models.keyFrom("ANTHROPIC_API_KEY") != "" {
		t.Errorf("it is still there, %v", err)
	}
}

// TestATrialSaysWhatFailed in the words of a run's failure, and without the key.
func TestATrialSaysWhatFailed(t *testing.T) {
	k := desk(t, t.TempDir(), labOf(t, faultlab.Unauthorized()))
	if err := k.Keep("anthropic", pastedKey); err != nil {
		t.Fatal(err)
	}
	tried := k.Try(t.Context(), "anthropic")
	if tried.Answered || tried.Failure == nil || tried.Failure.Kind != failure.KindAuth || tried.Failure.Title == "" || tried.Failure.Message == "" {
		t.Fatalf("%+v", tried.Failure)
	}
	if f := tried.Failure; strings.Contains(f.Title+f.Message+f.Detail, "canary") {
		t.Errorf("%+v", f)
	}
}

// TestKeysAreNotUsed that others could read: it is said why, at the page and where nothing can be asked.
func TestKeysAreNotUsed(t *testing.T) {
	k := desk(t, t.TempDir(), "http://127.0.0.1:1")
	if err := k.Keep("anthropic", pastedKey); err != nil {
		t.Fatal(err)
	}
	path, problem := k.models.KeyFile()
	if problem != nil {
		t.Fatal(problem)
	}
	if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // that is the fault
		t.Fatal(err)
	}
	if said := k.Listed().Problem; !strings.Contains(said, "thers may read") || k.models.Has("anthropic/m") {
		t.Errorf("%q", said)
	}
}

// TestModelServersOfThisMachine: their models are offered, but for those that write nothing, and none
// elsewhere is asked.
func TestModelServersOfThisMachine(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/v1/models" && r.Header.Get("Authorization") == "" {
			_, _ = w.Write([]byte(`{"data":[{"id":"qwen3:8b"},{"id":"nomic-embed-text"},{"id":"a b"},{"id":""}]}`))
		}
	}))
	defer s.Close()
	at := func(base string) []gateway.LocalServer {
		c := &config.Config{State: t.TempDir(), Providers: map[string]config.Provider{"ollama": {BaseURL: base + "/v1", AllowPrivate: true}, "lmstudio": {BaseURL: "http://127.0.0.1:1/v1"}}}
		m, err := NewModels(c)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		return (&keyDesk{c, m, health.New()}).Local(context.Background())
	}
	if got := at(s.URL); len(got) != 1 || got[0].Title != "Ollama" || strings.Join(got[0].Models, " ") != "ollama/qwen3:8b" {
		t.Errorf("%+v", got)
	}
	if got := at("https://192.0.2.1"); len(got) != 0 || asked != 1 {
		t.Errorf("%+v after %d requests", got, asked)
	}
}

// TestKeysAreNotSetUp where others could read along.
func TestKeysAreNotSetUp(t *testing.T) {
	for _, c := range []struct {
		at   Reach
		want bool
	}{
		{Reach{Address: "127.0.0.1:0"}, true},
		{Reach{Address: "unix:/run/m.sock"}, true},
		{Reach{Address: "0.0.0.0:8484", Cert: "c.pem"}, true},
		{Reach{Address: "0.0.0.0:8484", Expose: true}, false},
		{Reach{Address: "127.0.0.1:0", Role: roleGateway}, false},
	} {
		k := desk(t, t.TempDir(), "http://127.0.0.1:1")
		srv := &Server{Config: k.config, private: c.at.private()}
		if got := srv.keyDesk(k.models, k.known) != nil; got != c.want {
			t.Errorf("%+v: %v", c.at, got)
		}
	}
}
