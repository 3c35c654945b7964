package server

import (
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host"
)

// TestBuiltinPluginsOfAnEmbedder: a program that is not ours, as this test's is, is its own builtin
// plugin, and does not run its main again for that.
func TestBuiltinPluginsOfAnEmbedder(t *testing.T) {
	c, err := config.Parse([]byte("model: fable/fable-1\nplugins: [auto-recover, {name: rules, config: {rules: [{when: attempt > 9, retry: {after: 2s}}]}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	c.State = t.TempDir()
	srv, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	if err := srv.StartPlugins(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := srv.Plugins.Statuses()
	for _, st := range list {
		if st.State != host.StateReady {
			t.Errorf("%s is %s: %s", st.Name, st.State, st.LastError)
		}
	}
	if len(list) != 2 {
		t.Errorf("%d plugins", len(list))
	}
}
