package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// member is a serve among others, until stop.
type member struct {
	*Server
	stop func()
}

func serveMember(t *testing.T, store, upstream string, at *Reach) *member {
	t.Helper()
	state := t.TempDir()
	path := filepath.Join(state, "mulligan.yaml")
	text := "model: anthropic/one\nplugins: []\nstate: " + state + "\nstore: " + store + "\nproviders:\n  anthropic: {base_url: \"" + upstream + "\", key_env: LAB_KEY}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.OpenLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- srv.Serve(ctx, at, slog.New(slog.DiscardHandler)) }()
	m := &member{Server: srv, stop: func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
		over <- nil // stopped again by the test's end
		srv.Close()
	}}
	t.Cleanup(stop)
	return m
}

func (m *member) roles(t *testing.T) (roles []string) {
	t.Helper()
	list, err := m.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if one.Version == "" || one.Name == "" || one.SeenMS < 0 {
			t.Errorf("%+v", one)
		}
		if !one.Gone {
			roles = append(roles, one.Role)
		}
	}
	return roles
}

// TestAGatewayOwnsNoRuns: a run that is begun at a gateway is driven by another member; both are
// known, until they leave, and nobody else is.
func TestAGatewayOwnsNoRuns(t *testing.T) {
	store := pgtest.Database(t)
	lab := faultlab.New(faultlab.WithPace(0))
	lab.Script("one", faultlab.Answer("All is well."))
	upstream := httptest.NewServer(lab)
	defer upstream.Close()
	t.Setenv("LAB_KEY", "key-of-the-provider")
	gate := serveMember(t, store, upstream.URL, &Reach{Address: "127.0.0.1:0", Role: roleGateway})
	defer gate.stop()
	worker := serveMember(t, store, upstream.URL, &Reach{Address: noFace})
	eventually(t, "both are members", func() bool { return len(gate.roles(t)) == 2 })
	var url string
	eventually(t, "the gateway listens", func() bool {
		list, err := ListeningNow(gate.Dir)
		if err == nil && len(list) > 0 {
			url = list[0].URL
		}
		return url != ""
	})
	id := begin(t, gate, url)
	var events []recovery.Event
	eventually(t, "the run ends", func() bool {
		var err error
		if events, err = gate.Log.Read(t.Context(), id, 0, 0); err != nil {
			t.Fatal(err)
		}
		_, ended := events[len(events)-1].Body.(recovery.Ended)
		return ended
	})
	owners := map[string]bool{}
	driver := ""
	for _, e := range events {
		if c, ok := e.Body.(recovery.Claimed); ok {
			driver = c.Owner
			owners[driver] = true
		}
		if _, ok := e.Body.(recovery.Began); ok && len(owners) < 2 {
			t.Error("the gateway asked the model")
		}
	}
	list, err := gate.Members(t.Context())
	if err != nil || len(owners) != 2 || len(list) != 2 {
		t.Fatalf("owners %v, members %+v, %v", owners, list, err)
	}
	for _, m := range list {
		if (m.Name == driver) != (m.Role == RoleAll) || (m.Address == "") != (m.Role == RoleAll) {
			t.Errorf("%s drove it, and %+v is a member", driver, m)
		}
	}
	known, _ := besides[timeline.Members](gate.Log)
	rows, err := known.Members(t.Context())
	if err != nil || len(rows) != 2 || rows[0].Live == "" || rows[1].Live == "" || rows[0].Seal == rows[1].Seal {
		t.Errorf("what runs say is heard of %+v, %v", rows, err)
	}
	worker.stop()
	if roles := gate.roles(t); len(roles) != 1 || roles[0] != roleGateway {
		t.Errorf("there are %v", roles)
	}
}

// begin begins a run through the API.
func begin(t *testing.T, m *member, url string) string {
	t.Helper()
	token, err := gateway.ReadToken(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/runs", strings.NewReader(`{"prompt":"hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(res.Body)
	var run struct{ ID, Run string }
	if err != nil || json.Unmarshal(said, &run) != nil || run.ID+run.Run == "" {
		t.Fatalf("%s: %s, %v", res.Status, said, err)
	}
	return run.ID + run.Run
}

func TestRoles(t *testing.T) {
	c := &config.Config{State: t.TempDir()}
	srv, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	for role, want := range map[string]string{"king": "it is all or gateway", roleGateway: "--store"} {
		err := srv.Serve(t.Context(), &Reach{Address: noFace, Role: role}, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", role, err)
		}
	}
	if list, err := srv.Members(t.Context()); err != nil || list == nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	var table bytes.Buffer
	err = ShowMembers(&table, []gateway.Member{{Name: "box/1", Role: "all", Version: "1.2", Drives: 3, LagMS: 4, Labels: recovery.Labels{"files": "builds"}, SeenMS: int64(time.Minute / time.Millisecond), Gone: true}})
	if got := strings.Fields(strings.SplitN(table.String(), "\n", 2)[1]); err != nil || strings.Join(got, " ") != "box/1 all 1.2 3 4 ms 1m0s ago, gone - files=builds" {
		t.Errorf("%s, %v", &table, err)
	}
}
