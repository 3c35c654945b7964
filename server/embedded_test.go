package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host"
)

// TestBuiltinPluginsOfAnEmbedder: a program that is not ours, as this test's is, is its own builtin
// plugin, and does not run its main again for that.
func TestBuiltinPluginsOfAnEmbedder(t *testing.T) {
	srv := embedded(t, "model: fable/fable-1\nplugins: [auto-recover, {name: rules, config: {rules: [{when: attempt > 9, retry: {after: 2s}}]}}]\n")
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

// TestServesOnce: whoever tries again, say after the address was taken, gets no second host of plugins,
// whose processes would outlive Close.
func TestServesOnce(t *testing.T) {
	srv := embedded(t, "model: fable/fable-1\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	log := slog.New(slog.DiscardHandler)
	if err := srv.Serve(ctx, &Reach{Address: taken.Addr().String()}, log); err == nil {
		t.Error("it served at an address that was taken")
	}
	host := srv.Plugins
	if err := srv.Serve(ctx, &Reach{Address: "127.0.0.1:0"}, log); !errors.Is(err, errServed) || srv.Plugins != host {
		t.Errorf("the second time: %v", err)
	}
}

// embedded is the server of a program with that configuration.
func embedded(t *testing.T, text string) *Server {
	t.Helper()
	c, err := config.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.State = t.TempDir()
	srv, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}
