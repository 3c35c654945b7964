package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

var quick = pace{scan: 5 * time.Millisecond, save: 5 * time.Millisecond, first: time.Millisecond, most: 20 * time.Millisecond}

// received is a message as somebody else reads it.
type received struct {
	Type, Run, Text, Session string
	Seq                      uint64
	Timestamp                time.Time
	Labels                   map[string]string
	Data                     map[string]any
}

// receiver notes what it takes, and refuses every other message once or for as long as it is down.
type receiver struct {
	t *testing.T

	mu    sync.Mutex
	down  bool
	whole bool // every event from the third on is told
	tries map[string]int
	taken map[string][]uint64 // seqs by run, in the order they came
	said  map[string]received
}

func newReceiver(t *testing.T) (*receiver, Hook) {
	t.Helper()
	r := &receiver{t: t, tries: map[string]int{}, taken: map[string][]uint64{}, said: map[string]received{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, Hook{URL: server.URL + "/hook?token=hidden", Secret: secret, AllowPrivate: true}
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	id, at := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); req.Header.Get("webhook-signature") != want {
		r.t.Errorf("%s is signed %q, want %q", id, req.Header.Get("webhook-signature"), want)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries[id]++
	if r.down {
		panic(http.ErrAbortHandler)
	}
	if r.tries[id] == 1 && len(r.tries)%2 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var m received
	if err := json.Unmarshal(body, &m); err != nil || len(m.Data) == 0 {
		r.t.Errorf("%s: %v", body, err)
	}
	if id != fmt.Sprintf("%s.%d", m.Run, m.Seq) {
		r.t.Errorf("%s is about event %d of %s", id, m.Seq, m.Run)
	}
	r.said[id] = m
	if before := r.taken[m.Run]; r.whole && m.Seq > slices.Max(append([]uint64{2}, before...))+1 {
		r.t.Errorf("of %s event %d came after %v", m.Run, m.Seq, before)
	}
	r.taken[m.Run] = append(r.taken[m.Run], m.Seq)
}

func (r *receiver) setDown(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// has is how many messages it has taken, each counted once.
func (r *receiver) has() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.said)
}

func (r *receiver) waitFor(n int) {
	r.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); r.has() < n && !r.t.Failed(); {
		if time.Now().After(deadline) {
			r.t.Fatalf("%d of %d messages came", r.has(), n)
		}
		time.Sleep(time.Millisecond)
	}
}

// running runs a sender until stop.
func running(t *testing.T, log timeline.Log, dir string, h Hook) (stop func()) {
	t.Helper()
	s, err := newSender(t.Context(), log, dir, slog.New(slog.DiscardHandler), h, quick)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(ctx)
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			<-done
		})
	}
	t.Cleanup(stop)
	return stop
}

// begin begins a run, and gives what appends to it.
func begin(t *testing.T, log timeline.Log, id string) func(...recovery.Body) {
	t.Helper()
	state := &recovery.Run{}
	events := func(bodies ...recovery.Body) []recovery.Event {
		var all []recovery.Event
		for _, b := range bodies {
			e := recovery.Event{Run: id, Seq: state.Seq + 1, Time: time.Now().UTC(), Text: recovery.Line(state, b), Body: b}
			if err := state.Apply(e); err != nil {
				t.Error(err)
			}
			all = append(all, e)
		}
		return all
	}
	first := func(l timeline.Lease) []recovery.Event {
		return events(recovery.Started{
			Model: "a/one", Input: []llm.Message{llm.User("SECRET PROMPT")}, Policy: recovery.DefaultPolicy(), Session: "s-" + id,
			Labels: recovery.Labels{"tenant": "acme"},
		}, recovery.Claimed{Owner: l.Owner, Epoch: l.Epoch})
	}
	lease, err := log.Begin(t.Context(), id, "test", time.Hour, first)
	if err != nil {
		t.Error(err)
	}
	return func(bodies ...recovery.Body) {
		after := state.Seq
		if err := log.Append(t.Context(), lease, after, events(bodies...)...); err != nil {
			t.Error(err)
		}
	}
}

func note(n int) recovery.Body {
	return recovery.Noted{Topic: recovery.TopicToolSays, What: "search", Detail: fmt.Sprintf("page %d", n)}
}

var done = recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"}

// TestI29EachEventOnceAtLeast: a thousand events come to a receiver that refuses half of them
// once and is gone for a while, of a sender that is stopped and begins again: each at least once,
// those of a run in their order, all signed.
func TestI29EachEventOnceAtLeast(t *testing.T) {
	const runs, notes = 50, 19 // and the end
	log := timeline.NewMemory()
	r, hook := newReceiver(t)
	r.whole = true
	dir := t.TempDir()
	stop := running(t, log, dir, hook)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			add := begin(t, log, fmt.Sprintf("r%02d", i))
			for n := range notes {
				add(note(n))
			}
			add(done)
		})
	}
	r.waitFor(runs * (notes + 1) / 4)
	r.setDown(true)
	stop()
	stop = running(t, log, dir, hook)
	time.Sleep(10 * time.Millisecond)
	r.setDown(false)
	r.waitFor(runs * (notes + 1) / 2)
	stop()
	running(t, log, dir, hook)
	all.Wait()
	r.waitFor(runs * (notes + 1))
	r.mu.Lock()
	defer r.mu.Unlock()
	for run, seqs := range r.taken {
		if slices.Max(seqs) != 3+notes {
			t.Errorf("of %s there came %v", run, seqs)
		}
	}
	m := r.said["r07.3"]
	if m.Type != "noted" || m.Text == "" || m.Session != "s-r07" || m.Labels["tenant"] != "acme" || m.Timestamp.IsZero() || m.Data["topic"] != recovery.TopicToolSays {
		t.Errorf("%+v", m)
	}
}

// TestFromNowOn: events from before a hook was configured are not sent; later ones are, also of
// runs that were already going on.
func TestFromNowOn(t *testing.T) {
	log := timeline.NewMemory()
	over, goesOn := begin(t, log, "over"), begin(t, log, "goes-on")
	over(note(1), done)
	goesOn(note(1))
	r, hook := newReceiver(t)
	hook.Events = []string{"noted", "ended"}
	running(t, log, t.TempDir(), hook)
	goesOn(note(2), recovery.Waiting{ID: "w", For: recovery.WaitTime, Until: time.Now().Add(time.Hour), Model: "a/one"}, done)
	later := begin(t, log, "later")
	later(done)
	r.waitFor(3)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.taken["over"]) > 0 || fmt.Sprint(r.taken["goes-on"], r.taken["later"]) != "[4 6] [3]" {
		t.Errorf("%v", r.taken)
	}
}

// TestNothingSaidToAModel is in a message, and no key either.
func TestNothingSaidToAModel(t *testing.T) {
	body, err := bodyOf(recovery.Event{Run: "r", Seq: 9, Body: done}, recovery.Started{Model: "a/one", System: "SECRET", Input: []llm.Message{llm.User("SECRET")}})
	if err != nil || strings.Contains(string(body), "SECRET") || !strings.Contains(string(body), `"type":"ended"`) {
		t.Errorf("%s, %v", body, err)
	}
}

// TestS43WhereItMayLead: nothing goes to an address of this machine or its network that nobody
// has allowed, whatever name leads there, and no redirect is followed.
func TestS43WhereItMayLead(t *testing.T) {
	var asked sync.Map
	inner := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { asked.Store(req.URL.Path, true) }))
	defer inner.Close()
	_, port, err := net.SplitHostPort(inner.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"https://localhost:" + port + "/name", "https://127.0.0.1:" + port + "/address"} {
		p, err := newPostman(Hook{URL: url, Secret: secret}, slog.New(slog.DiscardHandler), quick)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.once(t.Context(), "r.1", []byte("{}")); err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "/name") {
			t.Errorf("%s: %v", url, err)
		}
	}
	redirects := httptest.NewServer(http.RedirectHandler(inner.URL+"/redirected", http.StatusTemporaryRedirect))
	defer redirects.Close()
	p, err := newPostman(Hook{URL: redirects.URL, Secret: secret, AllowPrivate: true}, slog.New(slog.DiscardHandler), quick)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.once(t.Context(), "r.1", []byte("{}")); err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
		t.Error(err)
	}
	asked.Range(func(path, _ any) bool {
		t.Errorf("%s was asked", path)
		return true
	})
}

func TestRetryAfter(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	p, err := newPostman(Hook{URL: server.URL, Secret: secret, AllowPrivate: true}, slog.New(slog.DiscardHandler), quick)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := p.once(t.Context(), "r.1", nil); after != 7*time.Second || err == nil {
		t.Errorf("%v, %v", after, err)
	}
}

func TestCheck(t *testing.T) {
	for _, h := range []Hook{
		{URL: "https://example.com/x?token=y"},
		{URL: "http://10.0.0.1/x", AllowPrivate: true, Events: []string{"ended"}},
		{URL: "https://10.0.0.1", AllowPrivate: true},
	} {
		if err := h.Check(); err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
	for _, h := range []Hook{
		{},
		{URL: "example.com"},
		{URL: "ftp://example.com"},
		{URL: "https://u:p@example.com"},
		{URL: "http://example.com"},
		{URL: "https://127.0.0.1"},
		{URL: "https://169.254.169.254", AllowPrivate: true},
		{URL: "https://[::1]"},
		{URL: "http://1.1.1.1", AllowPrivate: true},
		{URL: "https://example.com", Events: []string{"began"}},
	} {
		if err := h.Check(); err == nil {
			t.Errorf("%+v is taken", h)
		}
	}
	for secret, ok := range map[string]bool{secret: true, "": false, "short": false, "whsec_!": false, "whsec_c2hvcnQ=": false, strings.Repeat("x", minSecret): true} {
		if _, err := (Hook{Secret: secret}).key(); (err == nil) != ok {
			t.Errorf("the secret %q: %v", secret, err)
		}
	}
}

// TestForgets: a run that has ended is forgotten once it cannot be taken for a new one.
func TestForgets(t *testing.T) {
	c, found, err := openCursors(t.TempDir() + "/c.json")
	if found || err != nil {
		t.Fatal(found, err)
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, run := range []string{"old", "new", "open"} {
		c.learn(timeline.Summary{Run: run, StartedAt: at.Add(time.Duration(i%2) * time.Hour)}, 3)
	}
	c.finish("old")
	c.finish("new")
	c.scanned(at.Add(time.Hour))
	if err := c.save(); err != nil {
		t.Fatal(err)
	}
	again, found, err := openCursors(c.file)
	if !found || err != nil || len(again.Runs) != 2 || again.open()["open"] != 3 || len(again.open()) != 1 || !again.horizon().Equal(at.Add(time.Hour-margin)) {
		t.Errorf("%+v, %v", again.kept, err)
	}
}
