package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// stallingWriter is an answer whose reader stops reading for a while: a write blocks until its
// deadline or until the reader goes on. What is not flushed does not arrive.
type stallingWriter struct {
	header http.Header

	mu       sync.Mutex
	held     bytes.Buffer
	text     bytes.Buffer
	flushed  int
	deadline time.Time
	blocked  chan struct{} // closed when the reader goes on; nil = it reads
}

func (v *stallingWriter) Header() http.Header { return v.header }
func (v *stallingWriter) WriteHeader(int)     {}

func (v *stallingWriter) Flush() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.flushed++
	_, _ = v.held.WriteTo(&v.text) // a bytes.Buffer does not fail
}

func (v *stallingWriter) SetWriteDeadline(at time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.deadline = at
	return nil
}

func (v *stallingWriter) Write(data []byte) (int, error) {
	v.mu.Lock()
	blocked, left := v.blocked, time.Until(v.deadline)
	v.mu.Unlock()
	if blocked != nil {
		select {
		case <-blocked:
		case <-time.After(left):
			return 0, os.ErrDeadlineExceeded
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.held.Write(data)
}

// stop stops the reader until goOn is called.
func (v *stallingWriter) stop() (goOn func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	blocked := make(chan struct{})
	v.blocked = blocked
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.blocked = nil
		close(blocked)
	}
}

func (v *stallingWriter) take() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.text.Reset()
	return v.text.String()
}

// slowly follows a run of w, r1, by somebody who does not read for a while, in which
// something is shown.
type slowly struct {
	t    *testing.T
	w    *written
	to   *stallingWriter
	over chan struct{} // closed when the stream is
}

func follows(t *testing.T) *slowly {
	t.Helper()
	s := &slowly{t: t, w: newWritten()}
	if _, err := s.w.Start(t.Context(), gateway.Start{Prompt: "hi"}); err != nil {
		t.Fatal(err)
	}
	s.connect(0)
	return s
}

// connect follows the run, and checks that all events after the last one that was seen come.
func (s *slowly) connect(last uint64) {
	s.t.Helper()
	to, over := &stallingWriter{header: http.Header{}}, make(chan struct{})
	s.to, s.over = to, over
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/runs/r1/events", nil)
	r.Header.Set("Last-Event-ID", strconv.FormatUint(last, 10))
	go func() {
		defer close(over)
		gateway.New(gateway.Config{Runs: s.w, Log: s.w.log, Version: "test"}).ServeHTTP(to, r)
	}()
	synctest.Wait()
	var want strings.Builder
	for id := last + 1; id <= s.w.states["r1"].Seq; id++ {
		fmt.Fprintf(&want, "%d ", id)
	}
	if got := idsOf(to.take()); got != want.String() {
		s.t.Errorf("I29: after event %d come %s", last, got)
	}
}

// idsOf are the ids in a stream.
func idsOf(stream string) string {
	var ids strings.Builder
	for line := range strings.Lines(stream) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			ids.WriteString(strings.TrimSpace(id) + " ")
		}
	}
	return ids.String()
}

// hangs has the gateway write something that is not read.
func (s *slowly) hangs() (goOn func()) {
	goOn = s.to.stop()
	s.shows("first")
	return goOn
}

func (s *slowly) shows(text string) {
	s.w.log.Publish("r1", timeline.Delta{Attempt: 1, Text: text})
	synctest.Wait()
}

func (s *slowly) isOver() bool {
	synctest.Wait()
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// TestI29WhoFallsBehindIsToldToComeBack: a client that is 256 items or 1 MiB behind gets all of it
// when it reads on; one that is further behind is told to reconnect, and misses no event then.
func TestI29WhoFallsBehindIsToldToComeBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		most  int    // so many are not too many
		text  string // of each delta
		event bool
	}{
		{name: "256 deltas", most: 256, text: "x"},
		{name: "1 MiB of deltas", most: 8, text: strings.Repeat("x", 128<<10)},
		{name: "256 events", most: 256, event: true},
	} {
		for _, tooMany := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, too many %t", c.name, tooMany), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := follows(t)
					goOn := s.hangs()
					n := c.most
					if tooMany {
						n++
					}
					for range n {
						if !c.event {
							s.shows(c.text)
						} else if err := s.w.write("r1", recovery.Noted{}); err != nil {
							t.Fatal(err)
						}
					}
					if s.isOver() {
						t.Fatal("it is cut before it could be told")
					}
					goOn()
					over := s.isOver()
					text := s.to.take()
					told := strings.HasSuffix(text, "event: resync\ndata: {}\n\n")
					if over != tooMany || told != tooMany {
						t.Errorf("I29: %d behind: over %t, told to come back %t", n, over, told)
					}
					if shown := strings.Count(text, "event: delta\n") + strings.Count(text, "event: event\n"); !tooMany && shown != n+1 {
						t.Errorf("I29: %d of %d are sent", shown, n+1)
					}
					if flushed := s.to.flushed; flushed > 4 { // the welcome, the two events, the first delta, and all that had waited
						t.Errorf("what waits is sent one by one: %d times", flushed)
					}
					if strings.Contains(text, "event: end") {
						t.Error("it is told that the run has ended")
					}
					if err := s.w.write("r1", recovery.Noted{}); err != nil {
						t.Fatal(err)
					}
					s.connect(2)
				})
			})
		}
	}
}

// TestAChatThatFallsBehindIsToldAll: a chat of the AI SDK, which cannot come back for what it missed,
// gets all of the reasoning and the text once it reads on, and each word once.
func TestAChatThatFallsBehindIsToldAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWritten()
		if _, err := w.Start(t.Context(), gateway.Start{Prompt: "hi", Session: "chat"}); err != nil {
			t.Fatal(err)
		}
		if err := w.write("r1", recovery.Began{Attempt: 1, Round: 1, Model: "a/one"}); err != nil {
			t.Fatal(err)
		}
		to := &stallingWriter{header: http.Header{}}
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		go gateway.New(gateway.Config{Runs: w, Log: w.log, Version: "test"}).ServeHTTP(to, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/aisdk/chat/stream", nil))
		synctest.Wait()
		var said [2]strings.Builder
		say := func(from, to int) {
			for n := from; n < to; n++ {
				for i, thinking := range []bool{true, false} {
					text := fmt.Sprintf("%d ", n)
					w.log.Publish("r1", timeline.Delta{Attempt: 1, Offset: said[i].Len(), Text: text, Thinking: thinking})
					said[i].WriteString(text)
					synctest.Wait()
				}
			}
		}
		say(0, 10)
		goOn := to.stop()
		say(10, 10+timeline.MaxBehind)
		goOn()
		synctest.Wait()
		say(10+timeline.MaxBehind, 20+timeline.MaxBehind)
		stream := to.take()
		for i, kind := range []string{"reasoning-delta", "text-delta"} {
			if got := spoken(t, stream, kind); got != said[i].String() {
				t.Errorf("%s: %q, want %q", kind, got, said[i].String())
			}
		}
	})
}

// spoken joins the deltas of a kind in a stream of the AI SDK.
func spoken(t *testing.T, stream, kind string) string {
	t.Helper()
	var all strings.Builder
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			continue
		}
		var part struct{ Type, Delta string }
		if err := json.Unmarshal([]byte("{"+data), &part); err != nil {
			t.Fatal(err)
		}
		if part.Type == kind {
			all.WriteString(part.Delta)
		}
	}
	return all.String()
}

// TestI30ABlockedWriteIsCut: whoever takes nothing for 10 s is cut, whatever it is behind.
func TestI30ABlockedWriteIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := follows(t)
		goOn := s.hangs()
		time.Sleep(9900 * time.Millisecond)
		goOn()
		if s.isOver() || !strings.Contains(s.to.take(), "first") {
			t.Fatal("I30: whoever reads on in time is cut")
		}
		s.hangs()
		time.Sleep(9900 * time.Millisecond)
		if s.isOver() {
			t.Fatal("I30: it is cut too early")
		}
		time.Sleep(200 * time.Millisecond)
		if !s.isOver() {
			t.Fatal("I30: whoever takes nothing for 10 s is not cut")
		}
		if err := s.w.write("r1", recovery.Noted{}); err != nil {
			t.Fatal(err)
		}
		s.connect(2)
	})
}
