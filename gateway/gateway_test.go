package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// written is a gateway.Runs that writes events as a test says, and drives nothing.
type written struct {
	log *timeline.Journal

	mu     sync.Mutex
	n      int
	leases map[string]timeline.Lease
	states map[string]*recovery.Run
	keys   map[string]gateway.Start
	asked  []gateway.Start
}

func newWritten() *written {
	return &written{log: timeline.NewMemory(), leases: map[string]timeline.Lease{}, states: map[string]*recovery.Run{}, keys: map[string]gateway.Start{}}
}

func (w *written) Start(ctx context.Context, s gateway.Start) (string, error) {
	w.mu.Lock()
	w.asked = append(w.asked, s)
	if before, ok := w.keys[s.Key]; ok && s.Key != "" {
		w.mu.Unlock()
		if before.Fingerprint != s.Fingerprint {
			return "", gateway.ErrKeyReused
		}
		return "r-" + s.Key, nil
	}
	w.mu.Unlock()
	if err := checkModel(s.Model); err != nil {
		return "", &gateway.InputError{Field: "model", Err: err}
	}
	head, err := w.head(ctx, s.Session)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	w.n++
	id := fmt.Sprintf("r%d", w.n)
	if s.Key != "" {
		id = "r-" + s.Key
		w.keys[s.Key] = s
	}
	w.mu.Unlock()
	lease, err := w.log.Claim(ctx, id, "test", time.Hour)
	if err != nil {
		return "", err
	}
	w.leases[id], w.states[id] = lease, &recovery.Run{}
	policy := recovery.DefaultPolicy()
	policy.Models = []string{"a/one", "b/two"}
	return id, w.write(id, recovery.Started{Model: "a/one", Input: input(s), Policy: policy, Labels: s.Labels, Session: s.Session, Continues: head},
		recovery.Claimed{Owner: "test", Epoch: lease.Epoch})
}

func input(s gateway.Start) []llm.Message {
	if len(s.Messages) > 0 {
		return s.Messages
	}
	return []llm.Message{llm.User(s.Prompt)}
}

// head is what the next run of a session continues; an open suggestion is superseded.
func (w *written) head(ctx context.Context, session string) (*recovery.Head, error) {
	if session == "" {
		return nil, nil
	}
	list, err := w.log.List(ctx, timeline.Query{Session: session, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	last := w.states[list[0].Run]
	if end, ok := last.Supersede(); ok {
		if err := w.write(last.ID, end); err != nil {
			return nil, err
		}
	}
	if last.End == nil {
		return nil, gateway.ErrBusy
	}
	return &recovery.Head{Run: last.ID, Seq: last.Seq}, nil
}

func checkModel(name string) error {
	if name == "no/such" {
		return errors.New("it is not known")
	}
	return nil
}

// write appends events to a run.
func (w *written) write(id string, bodies ...recovery.Body) error {
	state := w.states[id]
	for _, b := range bodies {
		e := recovery.Event{Run: id, Seq: state.Seq + 1, Time: time.Now().UTC(), Text: recovery.Line(state, b), Body: b}
		if err := w.log.Append(context.Background(), w.leases[id], state.Seq, e); err != nil {
			return err
		}
		if err := state.Apply(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *written) Inspect(ctx context.Context, run string) (*recovery.Run, error) {
	events, err := w.log.Read(ctx, run, 0, 0)
	if err != nil {
		return nil, err
	}
	return recovery.Fold(events)
}

func (w *written) Recover(_ context.Context, run string, a gateway.Answer) error {
	state, ok := w.states[run]
	if !ok {
		return timeline.ErrNotFound
	}
	accepted, err := state.Accept(a.Suggestion, a.Action, a.Model, time.Now())
	if err != nil {
		return err
	}
	return w.write(run, state.Answering(accepted, time.Now())...)
}

func (w *written) Cancel(_ context.Context, run string) error {
	if _, ok := w.states[run]; !ok {
		return timeline.ErrNotFound
	}
	return w.write(run, recovery.CancelRequested{}, recovery.Ended{Status: recovery.StatusCancelled, StopReason: "cancelled"})
}

// fail brings a run to an open suggestion.
func (w *written) fail(t *testing.T, id string) {
	t.Helper()
	f := overloaded()
	err := w.write(id, recovery.Began{Attempt: 1, Round: 1, Model: "a/one"},
		recovery.Failed{Attempt: 1, Text: "par", Failure: *f, Alternatives: []recovery.Alternative{{Model: "b/two"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.write(id, recovery.Decided{Occasion: w.states[id].Occasion(), Decision: recovery.Decision{Action: recovery.ActionRetry}}); err != nil {
		t.Fatal(err)
	}
	for _, e := range recovery.Next(w.states[id]) {
		if err := w.write(id, e.Record); err != nil {
			t.Fatal(err)
		}
	}
}

func overloaded() *failure.Failure {
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider = "anthropic"
	f.Describe(failure.Words{})
	return f
}

// serve starts a gateway over w.
func serve(t *testing.T, w *written) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(gateway.New(gateway.Config{Runs: w, Log: w.log, CheckModel: checkModel, Version: "test"}))
	t.Cleanup(s.Close)
	return s
}

// call makes a request and decodes its answer.
func call(t *testing.T, method, url, body string, header map[string]string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatalf("%s %s: %d %s: %v", method, url, resp.StatusCode, data, err)
		}
	}
	return resp.StatusCode
}

func TestARunFromStartToRecovery(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	var run gateway.Run
	if code := call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, &run); code != 201 || run.ID != "r1" || run.Status != "running" {
		t.Fatalf("%d %+v", code, run)
	}
	w.fail(t, "r1")
	var inbox struct{ Suggestions []gateway.Asked }
	if code := call(t, "GET", s.URL+"/v1/suggestions", "", nil, &inbox); code != 200 || len(inbox.Suggestions) != 1 || inbox.Suggestions[0].Title != "hi" {
		t.Fatalf("%d %+v", code, inbox)
	}
	var raw map[string]any
	if code := call(t, "GET", s.URL+"/v1/runs/r1", "", nil, &raw); code != 200 {
		t.Fatal(code)
	}
	meta, _ := raw["meta"].(map[string]any)
	suggestion, _ := meta["recoverySuggestion"].(map[string]any)
	if suggestion["suggestedAction"] != "retry" || suggestion["attempt"] != float64(0) || raw["status"] != "failed" {
		t.Errorf("the document is %v", raw)
	}
	answer := raw["answer"].(map[string]any)
	if answer["text"] != "par" || answer["partial"] != true {
		t.Errorf("the answer is %v", answer)
	}
	id := suggestion["id"].(string)
	for _, c := range []struct {
		body string
		code int
	}{
		{`{"suggestion":"` + id + `","action":"no"}`, 422},
		{`{"suggestion":"` + id + `","action":"copy_details"}`, 422},
		{`{"suggestion":"other","action":"retry"}`, 410},
		{`{"suggestion":"` + id + `","action":"retry"}`, 202},
		{`{"suggestion":"` + id + `","action":"retry"}`, 409},
	} {
		var problem map[string]any
		if code := call(t, "POST", s.URL+"/v1/runs/r1/recover", c.body, nil, &problem); code != c.code {
			t.Errorf("%s: %d %v, not %d", c.body, code, problem, c.code)
		} else if code == http.StatusConflict && problem["instance"] != "/v1/runs/r1" {
			t.Errorf("%v does not say which run goes on", problem)
		}
	}
	if code := call(t, "POST", s.URL+"/v1/runs/r1/cancel", "", nil, &run); code != 202 || run.Status != "cancelled" {
		t.Errorf("%d %+v", code, run)
	}
}

// TestAnExpiredSuggestionAsksNobody: also if no process drives its run, so that nobody records that
// it has expired.
func TestAnExpiredSuggestionAsksNobody(t *testing.T) {
	w := newWritten()
	now := time.Now()
	s := httptest.NewServer(gateway.New(gateway.Config{Runs: w, Log: w.log, Now: func() time.Time { return now }}))
	t.Cleanup(s.Close)
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, nil)
	w.fail(t, "r1")
	for _, open := range []bool{true, false} {
		var run gateway.Run
		var list struct{ Runs []gateway.Listed }
		var inbox struct{ Suggestions []gateway.Asked }
		call(t, "GET", s.URL+"/v1/runs/r1", "", nil, &run)
		call(t, "GET", s.URL+"/v1/runs", "", nil, &list)
		call(t, "GET", s.URL+"/v1/suggestions", "", nil, &inbox)
		if asks := run.Meta.RecoverySuggestion != nil; asks != open || list.Runs[0].SuggestionOpen != open || (len(inbox.Suggestions) == 1) != open {
			t.Errorf("open is %t; the run asks: %t, the list says %t, the inbox has %d", open, asks, list.Runs[0].SuggestionOpen, len(inbox.Suggestions))
		}
		if run.Status != recovery.StatusFailed {
			t.Errorf("the run is %s", run.Status)
		}
		now = now.Add(25 * time.Hour)
	}
}

// TestACallIsCutShort: a run tells how its model call may be cut short, and accepts that once.
func TestACallIsCutShort(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	var run gateway.Run
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, &run)
	if err := w.write("r1", recovery.Began{Attempt: 1, Round: 1, Model: "a/one"}); err != nil {
		t.Fatal(err)
	}
	if code := call(t, "GET", s.URL+"/v1/runs/r1", "", nil, &run); code != 200 || run.Attempt == nil || run.Attempt.CutShort == nil {
		t.Fatalf("%d %+v", code, run)
	}
	cut := run.Attempt.CutShort
	if len(cut.Actions) != 2 || cut.Actions[0].Kind != recovery.ButtonRetryNow || cut.Actions[1].Model != "b/two" {
		t.Fatalf("what may be done: %+v", cut)
	}
	body := `{"suggestion":"` + cut.ID + `","action":"a2"}`
	var after gateway.Run
	if code := call(t, "POST", s.URL+"/v1/runs/r1/recover", body, nil, &after); code != 202 || after.Attempt != nil || after.Status != "running" {
		t.Errorf("%d %+v", code, after)
	}
	if code := call(t, "POST", s.URL+"/v1/runs/r1/recover", body, nil, nil); code != 409 {
		t.Errorf("once more: %d", code)
	}
	events, err := w.log.Read(t.Context(), "r1", 0, 0)
	if last := events[len(events)-1]; err != nil || last.Text != "You chose: Switch to b/two" {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestWrongRequestsNameTheField(t *testing.T) {
	s := serve(t, newWritten())
	for _, c := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"POST", "/v1/runs", `{}`, 422, "body.prompt"},
		{"POST", "/v1/runs", `{"prompt":"hi","model":"no/such"}`, 422, "body.model"},
		{"POST", "/v1/runs", `{"prompt":"hi","colour":"red"}`, 422, "body.colour"},
		{"POST", "/v1/runs", `{"prompt":7}`, 422, "body.prompt"},
		{"POST", "/v1/runs", `{"prompt":"hi","maxRetries":9}`, 422, "body.maxRetries"},
		{"POST", "/v1/runs", `{"prompt":`, 400, "unexpected"},
		{"POST", "/v1/runs", `{"prompt":"hi","budget":{"tokens":-1}}`, 422, "body.budget"},
		{"POST", "/v1/runs", `{"prompt":"hi","budget":{"microdollars":-1}}`, 422, "body.budget"},
		{"POST", "/v1/runs", `{"messages":[{"role":"user","parts":[{"text":"hi"}]},{"role":"narrator","parts":[]}]}`, 422, "body.messages[1].role"},
		{"PUT", "/v1/sessions/s1", `{"model":"no/such"}`, 422, "body.model"},
		{"PUT", "/v1/sessions/s1", `{"timeouts":{"naps":5000}}`, 422, "body.timeouts"},
		{"GET", "/v1/runs?limit=0", "", 422, "query.limit"},
		{"POST", "/v1/runs", `{"prompt":"hi","labels":{"a":7}}`, 422, "body.labels"},
		{"GET", "/v1/runs?label=tenant", "", 422, "query.label"},
		{"GET", "/v1/runs?label=Tenant=acme", "", 422, "query.label"},
		{"GET", "/v1/runs?label=&label=tenant=acme", "", 422, "query.label"},
		{"GET", "/v1/runs?waiting=", "", 422, "it has no value"},
		{"GET", "/v1/runs?colour=red", "", 422, "colour"},
		{"GET", "/v1/runs/nobody", "", 404, "no such run"},
		{"GET", "/v1/runs/..%2f..%2fetc", "", 422, "path.id"},
		{"GET", "/v1/runs/nobody/events", "", 404, "no such run"},
		{"POST", "/v1/runs/nobody/cancel", "", 404, "no such run"},
	} {
		var problem json.RawMessage
		code := call(t, c.method, s.URL+c.path, c.body, nil, &problem)
		if code != c.code || !bytes.Contains(problem, []byte(c.says)) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, code, problem)
		}
	}
}

// TestRunsAreListedByTheirLabels: those that have all of them.
func TestRunsAreListedByTheirLabels(t *testing.T) {
	s := serve(t, newWritten())
	var run gateway.Run
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, nil)
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi","labels":{"tenant":"acme","beta":"a=b"}}`, nil, &run)
	if run.Labels["tenant"] != "acme" {
		t.Errorf("its labels are %v", run.Labels)
	}
	for query, want := range map[string]int{
		"": 2, "?label=tenant=acme": 1, "?label=tenant=acme&label=beta=a%3Db": 1, "?label=tenant=other": 0, "?label=tenant=acme&label=gamma=": 0,
		"?label=tenant=acme&label=tenant=acme": 1, "?label=tenant=acme&label=tenant=other": 0,
	} {
		var list struct{ Runs []gateway.Listed }
		if code := call(t, "GET", s.URL+"/v1/runs"+query, "", nil, &list); code != 200 || len(list.Runs) != want {
			t.Errorf("%s: %d %+v", query, code, list)
		} else if want == 1 && (list.Runs[0].ID != run.ID || len(list.Runs[0].Labels) != 2) {
			t.Errorf("%s: %+v", query, list)
		}
	}
}

// TestI37TheSameKeyIsTheSameRun: another request under the key is refused.
func TestI37TheSameKeyIsTheSameRun(t *testing.T) {
	s := serve(t, newWritten())
	key := map[string]string{"Idempotency-Key": "k1"}
	var first, again gateway.Run
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, key, &first)
	if code := call(t, "POST", s.URL+"/v1/runs", `{ "prompt": "hi" }`, key, &again); code != 201 || again.ID != first.ID {
		t.Errorf("%d %s, not %s", code, again.ID, first.ID)
	}
	if code := call(t, "POST", s.URL+"/v1/runs", `{"prompt":"bye"}`, key, nil); code != 409 {
		t.Errorf("another request under the key: %d", code)
	}
}

// sse reads a stream of events: "id event" of each.
func sse(t *testing.T, url, last string, until func(line string) bool) (seen []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	id, kind := "", ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			kind = value
		case "":
			if kind != "" {
				seen = append(seen, strings.TrimSpace(id+" "+kind))
				if until(seen[len(seen)-1]) {
					return seen
				}
			}
			id, kind = "", ""
		}
	}
	return seen
}

func TestI29FollowAndComeBack(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	var run gateway.Run
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, &run)
	first := sse(t, s.URL+"/v1/runs/r1/events", "", func(line string) bool { return line == "2 event" })
	if strings.Join(first, ",") != "1 event,situation,2 event" {
		t.Errorf("at first: %v", first)
	}
	w.fail(t, "r1")
	if err := w.Cancel(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	never := func(string) bool { return false }
	rest := sse(t, s.URL+"/v1/runs/r1/events", "2", never)
	rest = slices.DeleteFunc(rest, func(line string) bool { return line == "situation" })
	if len(rest) != int(w.states["r1"].Seq)-2+1 || rest[0] != "3 event" || rest[len(rest)-1] != "end" {
		t.Errorf("after coming back: %v", rest)
	}
	if after := sse(t, s.URL+"/v1/runs/r1/events?after=5", "", never); after[0] != "6 event" {
		t.Errorf("after=5: %v", after)
	}
	if code := call(t, "GET", s.URL+"/v1/runs/r1/events", "", map[string]string{"Last-Event-ID": "x"}, nil); code != 422 {
		t.Errorf("a wrong Last-Event-ID: %d", code)
	}
}

func TestLiveText(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, &struct{}{})
	if err := w.write("r1", recovery.Began{Attempt: 1, Round: 1, Model: "a/one"}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				w.log.Publish("r1", timeline.Delta{Run: "r1", Attempt: 1, Text: "It is"})
			}
		}
	}()
	seen := sse(t, s.URL+"/v1/runs/r1/events", "", func(line string) bool { return line == "delta" })
	if strings.Join(seen, ",") != "1 event,2 event,situation,3 event,delta" {
		t.Errorf("seen: %v", seen)
	}
}

func TestTheDocumentOfTheAPI(t *testing.T) {
	s := serve(t, newWritten())
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	if code := call(t, "GET", s.URL+"/openapi.json", "", nil, &doc); code != 200 || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatalf("%d %+v", code, doc)
	}
	for path, method := range map[string]string{
		"/v1/runs": "post", "/v1/runs/{id}": "get", "/v1/runs/{id}/events": "get", "/v1/runs/{id}/recover": "post", "/v1/runs/{id}/cancel": "post",
		"/v1/suggestions": "get", "/v1/models": "get", "/v1/plugins": "get", "/v1/providers": "get", "/v1/plugins/{name}/disable": "post", "/v1/members": "get", "/healthz": "get", "/readyz": "get",
	} {
		if doc.Paths[path][method] == nil {
			t.Errorf("%s %s is not in it", method, path)
		}
	}
	var health struct{ Status string }
	for _, path := range []string{"/healthz", "/readyz"} {
		if code := call(t, "GET", s.URL+path, "", nil, &health); code != 200 || health.Status != "ok" {
			t.Errorf("%s: %d %+v", path, code, health)
		}
	}
}
