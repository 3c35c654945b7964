package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/timeline"
)

// begin starts a run of a session.
func begin(t *testing.T, s *httptest.Server, session, prompt string) (run string) {
	t.Helper()
	var begun gateway.Run
	if code := call(t, "POST", s.URL+"/v1/runs", `{"prompt":"`+prompt+`","session":"`+session+`"}`, nil, &begun); code != 201 {
		t.Fatalf("a run of session %s: %d", session, code)
	}
	return begun.ID
}

// titles are those of all sessions, by their ids.
func titles(t *testing.T, s *httptest.Server) map[string]string {
	t.Helper()
	var list struct{ Sessions []gateway.SessionListed }
	if code := call(t, "GET", s.URL+"/v1/sessions", "", nil, &list); code != 200 {
		t.Fatalf("the sessions: %d", code)
	}
	by := map[string]string{}
	for _, s := range list.Sessions {
		by[s.ID] = s.Title
	}
	return by
}

func TestAConversationIsRenamed(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	begin(t, s, "tea", "Plan my week")
	title := func(body string) int {
		return call(t, "PUT", s.URL+"/v1/sessions/tea/title", body, nil, nil)
	}
	for _, c := range []struct {
		body string
		code int
		then string
	}{
		{`{"title":"Tea in “Oslo”"}`, 204, "Tea in “Oslo”"},
		{`{"title":"two\nlines"}`, 422, "Tea in “Oslo”"},
		{`{"title":"\u001b[2J"}`, 422, "Tea in “Oslo”"},
		{`{"title":"   "}`, 422, "Tea in “Oslo”"},
		{`{"title":"` + strings.Repeat("é", timeline.MaxTitle+1) + `"}`, 422, "Tea in “Oslo”"},
		{`{}`, 422, "Tea in “Oslo”"},
		{`{"title":"` + strings.Repeat("é", timeline.MaxTitle) + `"}`, 204, strings.Repeat("é", timeline.MaxTitle)},
		{`{"title":""}`, 204, "Plan my week"},
	} {
		if code := title(c.body); code != c.code {
			t.Errorf("%s: %d, not %d", c.body, code, c.code)
		}
		if got := titles(t, s)["tea"]; got != c.then {
			t.Errorf("after %s it is called %q", c.body, got)
		}
	}
	if code := call(t, "PUT", s.URL+"/v1/sessions/a%20b/title", `{"title":"Tea"}`, nil, nil); code != 422 {
		t.Errorf("a session that cannot be: %d", code)
	}
}

// thoughtful is a log that takes its time between what is read of a session and what is written.
type thoughtful struct{ timeline.Log }

func (l thoughtful) Session(ctx context.Context, id string) (timeline.Session, error) {
	s, err := l.Log.Session(ctx, id)
	time.Sleep(20 * time.Millisecond)
	return s, err
}

// TestATitleAndDefaultsAtOnce: neither change takes the other one back.
func TestATitleAndDefaultsAtOnce(t *testing.T) {
	w := newWritten()
	s := httptest.NewServer(gateway.New(gateway.Config{Runs: w, Log: thoughtful{w.log}, CheckModel: checkModel, Version: "test"}))
	t.Cleanup(s.Close)
	var both sync.WaitGroup
	both.Go(func() { call(t, "PUT", s.URL+"/v1/sessions/tea/title", `{"title":"Tea"}`, nil, nil) })
	both.Go(func() { call(t, "PUT", s.URL+"/v1/sessions/tea", `{"model":"b/two"}`, nil, nil) })
	both.Wait()
	if kept, err := w.log.Session(t.Context(), "tea"); err != nil || kept.Title != "Tea" || kept.Model != "b/two" {
		t.Fatalf("kept is %+v, %v", kept, err)
	}
}

func TestAConversationIsDeleted(t *testing.T) {
	w := newWritten()
	var forgotten []string
	s := httptest.NewServer(gateway.New(gateway.Config{
		Runs: w, Log: w.log, CheckModel: checkModel, Version: "test",
		Forget: func(conversations ...string) error { forgotten = append(forgotten, conversations...); return nil },
	}))
	t.Cleanup(s.Close)
	remove := func() int { return call(t, "DELETE", s.URL+"/v1/sessions/tea", "", nil, nil) }
	if code := remove(); code != http.StatusNotFound {
		t.Errorf("one that is not there: %d", code)
	}
	first := begin(t, s, "tea", "Plan my week")
	begin(t, s, "milk", "Say hello")
	call(t, "PUT", s.URL+"/v1/sessions/tea/title", `{"title":"Tea"}`, nil, nil)
	if code := remove(); code != http.StatusConflict {
		t.Errorf("one whose run goes on: %d", code)
	}
	w.fail(t, first)
	if code := remove(); code != http.StatusConflict {
		t.Errorf("one whose run asks a person: %d", code)
	}
	second := begin(t, s, "tea", "And next week")
	if err := w.Cancel(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if code := remove(); code != http.StatusConflict {
		t.Errorf("one whose run has an owner: %d", code)
	}
	if got := titles(t, s)["tea"]; got != "Tea" || len(forgotten) > 0 {
		t.Errorf("what was not deleted is called %q; forgotten: %v", got, forgotten)
	}
	for _, run := range []string{first, second} {
		if err := w.log.Release(t.Context(), w.leases[run]); err != nil {
			t.Fatal(err)
		}
	}
	if code := remove(); code != http.StatusNoContent || !slices.Equal(forgotten, []string{"tea"}) {
		t.Errorf("%d; forgotten: %v", code, forgotten)
	}
	if got := titles(t, s); len(got) != 1 || got["milk"] != "Say hello" {
		t.Errorf("what is left is %v", got)
	}
	if kept, err := w.log.Session(t.Context(), "tea"); err != nil || kept.Title != "" {
		t.Errorf("what is kept of it is %+v, %v", kept, err)
	}
	for path, want := range map[string]int{"/v1/runs/" + first: 404, "/v1/runs/" + second: 404, "/v1/runs/" + second + "/events": 404} {
		if code := call(t, "GET", s.URL+path, "", nil, nil); code != want {
			t.Errorf("%s: %d", path, code)
		}
	}
	if code := remove(); code != http.StatusNotFound {
		t.Errorf("once more: %d", code)
	}
	begin(t, s, "tea", "Hello again")
	if got := titles(t, s)["tea"]; got != "Hello again" {
		t.Errorf("a new one of its name is called %q", got)
	}
}

// TestWhatAnEngineKeepsStays: who deletes is told of what was not forgotten.
func TestWhatAnEngineKeepsStays(t *testing.T) {
	w := newWritten()
	s := httptest.NewServer(gateway.New(gateway.Config{
		Runs: w, Log: w.log, CheckModel: checkModel, Version: "test",
		Forget: func(...string) error { return errors.New("its files are not mine") },
	}))
	t.Cleanup(s.Close)
	run := begin(t, s, "tea", "Plan my week")
	if err := errors.Join(w.Cancel(context.Background(), run), w.log.Release(t.Context(), w.leases[run])); err != nil {
		t.Fatal(err)
	}
	if code := call(t, "DELETE", s.URL+"/v1/sessions/tea", "", nil, nil); code != http.StatusInternalServerError {
		t.Errorf("it says %d", code)
	}
}
