package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// TestPeopleActOnPlugins: whoever may act is named, in the log as in the answer, and never by what they
// were let in with; a page of another site may not.
func TestPeopleActOnPlugins(t *testing.T) {
	var acts []string
	state := gateway.Plugin{Name: "my plugin", State: "ready"}
	g := guardOf(t, nil, func(cfg *gateway.Config) {
		cfg.Plugins = func() []gateway.Plugin { return []gateway.Plugin{state} }
		cfg.Plugin = func(_ context.Context, name string, act gateway.PluginAct, by string) error {
			if name == "stuck" {
				return errors.New("plugin stuck was not reloaded and stays as it was: no handshake")
			}
			if name != state.Name {
				return gateway.ErrNoPlugin
			}
			acts = append(acts, string(act)+" "+by)
			state.State, state.Disabled = "ready", nil
			if act == gateway.PluginDisable {
				state.State, state.Disabled = "disabled", &gateway.DisabledBy{By: by}
			}
			return nil
		}
	})
	session := g.logIn()
	if got := g.send("POST", "/v1/plugins/my%20plugin/disable", "", session); got.code != http.StatusForbidden || len(acts) != 0 {
		t.Errorf("without the CSRF header: %d, %v", got.code, acts)
	}
	if got := g.send("POST", "/v1/plugins/my%20plugin/disable", ""); got.code != http.StatusUnauthorized || len(acts) != 0 {
		t.Errorf("a stranger: %d, %v", got.code, acts)
	}
	var p gateway.Plugin
	got := g.send("POST", "/v1/plugins/my%20plugin/disable", "", session, csrf)
	if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.code != http.StatusOK || p.State != "disabled" || !strings.HasPrefix(p.Disabled.By, "a browser (session ") {
		t.Errorf("%d %s", got.code, got.body)
	}
	for _, act := range []string{"enable", "restart"} {
		if got := g.send("POST", "/v1/plugins/my%20plugin/"+act, "", g.bearer()); got.code != http.StatusOK {
			t.Errorf("%s: %d %s", act, got.code, got.body)
		}
	}
	if len(acts) != 3 || !strings.HasPrefix(acts[1], "enable a program (token ") || !strings.HasPrefix(acts[2], "restart a program (token ") {
		t.Errorf("%q", acts)
	}
	_, id, _ := strings.Cut(session, "=")
	if log := g.log.String(); strings.Count(log, "a person acted on a plugin") != 3 || strings.Contains(log, g.token) || strings.Contains(log, id) {
		t.Errorf("the log: %s", log)
	}
	for path, want := range map[string]int{
		"/v1/plugins/nobody/restart": http.StatusNotFound, "/v1/plugins/stuck/restart": http.StatusConflict, "/v1/plugins/my%20plugin/remove": http.StatusNotFound,
	} {
		if got := g.send("POST", path, "", g.bearer()); got.code != want || want == http.StatusConflict && !strings.Contains(got.body, "no handshake") {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}

// TestProvidersAreLists: what nobody has counted is empty, and never null.
func TestProvidersAreLists(t *testing.T) {
	g := guard(t, nil)
	if got := g.send("GET", "/v1/providers", "", g.bearer()); got.code != http.StatusOK || !strings.Contains(got.body, `"providers":[]`) || !strings.Contains(got.body, `"since":"`) {
		t.Errorf("%d %s", got.code, got.body)
	}
	g = guardOf(t, nil, func(cfg *gateway.Config) {
		cfg.Providers = func() gateway.Providers {
			return gateway.Providers{Providers: []gateway.Provider{{Name: "acme"}, {Name: "b", Models: []gateway.ModelCalls{{Name: "b/c"}}}}}
		}
	})
	if got := g.send("GET", "/v1/providers", "", g.bearer()); !strings.Contains(got.body, `"models":[]`) || !strings.Contains(got.body, `"failures":[]`) || strings.Contains(got.body, "null") {
		t.Errorf("%d %s", got.code, got.body)
	}
}
