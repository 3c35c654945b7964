package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestTheControlRoomOfATerminal: what serve has counted of calls and votes is what the API and the
// verbs tell; a plugin that a person disables has no vote in the next failure, and who did it is in its log.
func TestTheControlRoomOfATerminal(t *testing.T) {
	h := newHome(t, "529, answer:Here., 529, answer:Here.")
	a := h.listening(filepath.Join(h.dir, "state", "mulligan"))
	begin := func(status recovery.Status) {
		t.Helper()
		var run gateway.Run
		a.post("/v1/runs", `{"prompt":"hello","autoRecover":true}`, &run)
		a.until("the run stands", func() bool {
			a.ask(http.MethodGet, "/v1/runs/"+run.ID, "", &run)
			return run.Status == status
		})
	}
	begin(recovery.StatusCompleted)
	var providers gateway.Providers
	a.ask(http.MethodGet, "/v1/providers", "", &providers)
	if len(providers.Providers) != 1 || len(providers.Providers[0].Models) != 1 {
		t.Fatalf("%+v", providers)
	}
	m := providers.Providers[0].Models[0]
	if m.Name != "fable/one" || m.Calls != 2 || m.Failed != 1 || len(m.Failures) != 1 || m.Failures[0].Kind != "overloaded" || m.P95 < 1 || m.Tokens < 1 || providers.Spent.Tokens < m.Tokens {
		t.Errorf("%+v, %+v", m, providers.Spent)
	}
	says := func(want string, args ...string) {
		t.Helper()
		out, err := h.command(args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	says("1 (50 %)", "providers")
	says("1 overloaded", "providers")
	says(`"name":"fable/one"`, "providers", "--json")

	says("auto-recover is disabled", "plugin", "disable", "auto-recover")
	a.until("plugin list says that it is disabled", func() bool { // its host's note follows in a moment
		out, err := h.command("plugin", "list").CombinedOutput()
		return err == nil && strings.Contains(string(out), "disabled by a program (token ")
	})
	begin(recovery.StatusFailed)
	var plugins struct{ Plugins []gateway.Plugin }
	a.ask(http.MethodGet, "/v1/plugins", "", &plugins)
	if p := plugins.Plugins[0]; p.State != "disabled" || p.Disabled == nil || p.Votes == nil || p.Votes.Won != 1 || p.Votes.Failed != 1 {
		t.Errorf("%+v, %+v", p, p.Votes)
	}
	says("auto-recover is ready", "plugin", "enable", "auto-recover")
	says("auto-recover is ready", "plugin", "restart", "auto-recover")
	says("plugin is disabled by a person by='a program (token ", "plugin", "logs", "auto-recover")
	if out, err := h.command("plugin", "restart", "nobody").CombinedOutput(); err == nil || !strings.Contains(string(out), "no plugin nobody") {
		t.Errorf("%v\n%s", err, out)
	}
	a.stop()
	if out, err := h.command("providers").CombinedOutput(); err == nil || !strings.Contains(string(out), "no gateway serves") {
		t.Errorf("%v\n%s", err, out)
	}
}
