package server

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// TestARunWaitsForItsMachine: a run whose files are on another machine waits for that one, and says
// so wherever it is looked at, until it is there.
func TestARunWaitsForItsMachine(t *testing.T) {
	store := pgtest.Database(t)
	lab := faultlab.New(faultlab.WithPace(0))
	lab.Script("one", faultlab.Answer("It is built."))
	upstream := httptest.NewServer(lab)
	defer upstream.Close()
	t.Setenv("LAB_KEY", "key-of-the-provider")
	here := serveMember(t, store, upstream.URL, &Reach{Address: "127.0.0.1:0"})
	defer here.stop()
	c := clientOf(t, here)
	id, err := c.Start(t.Context(), client.Start{Prompt: "build it", Needs: recovery.Labels{"files": "builds"}})
	if err != nil {
		t.Fatal(err)
	}
	const line = "Waiting for a machine that has files=builds. {leave}"
	eventually(t, "the run says what it waits for", func() bool {
		run, err := c.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		held := run.Situation.Held
		return run.Situation.Stages[0].Line == line && held.By == recovery.HeldByMachine && held.Needs["files"] == "builds"
	})
	list, err := here.Stranded(t.Context())
	if err != nil || !list[id] {
		t.Errorf("%v, %v", list, err)
	}
	if listed := get(t, here, "/v1/runs"); !strings.Contains(listed, `"needs":{"files":"builds"},"stranded":true`) {
		t.Errorf("the list says %s", listed)
	}
	var lines []string
	t.Setenv("MULLIGAN_MACHINE", "files=builds")
	var there *member
	for item, err := range c.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Situation != nil {
			lines = append(lines, item.Situation.Stages[0].Line)
		}
		if there == nil && slices.Contains(lines, line) {
			there = serveMember(t, store, upstream.URL, &Reach{Address: noFace})
			defer there.stop()
		}
	}
	if there == nil || lines[len(lines)-1] == line {
		t.Fatalf("who follows sees %q", lines)
	}
	run, err := c.Run(t.Context(), id)
	if err != nil || run.Status != recovery.StatusCompleted || run.Situation.Held != nil {
		t.Errorf("%+v, %v", run, err)
	}
	members, err := here.Members(t.Context())
	name, _ := os.Hostname()
	if err != nil || len(members) != 2 || members[0].Labels.String() != "host="+name || members[1].Labels.String() != "files=builds host="+name {
		t.Errorf("%+v, %v", members, err)
	}
	if list, err := here.Stranded(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// where is the URL of a member.
func (m *member) where(t *testing.T) (url string) {
	t.Helper()
	eventually(t, "the member listens", func() bool {
		list, err := ListeningNow(m.Dir)
		if err == nil && len(list) > 0 {
			url = list[0].URL
		}
		return url != ""
	})
	return url
}

func clientOf(t *testing.T, m *member) *client.Client {
	t.Helper()
	url := m.where(t)
	token, err := gateway.ReadToken(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(url, client.WithToken(token))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// get is what a member says at a path.
func get(t *testing.T, m *member, path string) string {
	t.Helper()
	token, err := gateway.ReadToken(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.where(t)+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(res.Body)
	if err != nil || !json.Valid(said) {
		t.Fatalf("%s: %s, %v", res.Status, said, err)
	}
	return string(said)
}
