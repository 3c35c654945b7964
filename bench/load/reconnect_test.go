package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

const (
	cutRuns      = 10
	cutFollowers = 10 // of each run
	cutsOfEach   = 10 // a thousand in all
)

// TestI29AThousandCuts follows runs that are retried, and whose text is withdrawn, with the Go
// client over TCP, and breaks each connection after a random time or number of bytes. The clients
// receive each durable event once and in order (I29), and what they show in the end is the answer
// (I09).
func TestI29AThousandCuts(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	h := openHarness(t)
	var group sync.WaitGroup
	var cutters []*cutter
	runs := cutRuns
	if testing.Short() {
		runs = 3
		t.Run("the others", func(t *testing.T) { t.Skip("a thousand cuts take a quarter of a minute; here are 300") })
	}
	for i := range runs {
		run, err := h.client(t, http.DefaultTransport).Start(t.Context(), client.Start{Prompt: "hi", Model: "lab/" + h.models[i]})
		if err != nil {
			t.Fatal(err)
		}
		for j := range cutFollowers {
			c := &cutter{t: t, run: run, says: h.says[i], dice: rand.New(rand.NewPCG(seed, uint64(i*cutFollowers+j)))} //nolint:gosec // dice
			cutters = append(cutters, c)
			group.Go(func() { c.play(h) })
		}
	}
	group.Wait()
	cuts, live := 0, 0
	for _, c := range cutters {
		cuts, live = cuts+c.cuts, live+c.live
	}
	t.Logf("%d connections broke, %d of them before the run had ended", cuts, live)
	if cuts < runs*cutFollowers*cutsOfEach || live < cuts/10 {
		t.Errorf("I29: only %d connections broke, %d of them before the run had ended", cuts, live)
	}
}

// harness is a runner and a provider behind a real gateway.
type harness struct {
	url    string
	log    timeline.Log
	models []string
	says   [][]string // by model, then by attempt
}

func openHarness(t *testing.T) *harness {
	t.Helper()
	lab := faultlab.New(faultlab.WithPace(4 * time.Millisecond))
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = lab.Close(), server.Close() })
	model, err := anthropic.New(anthropic.Config{Name: "lab", BaseURL: server.URL(), Key: func() (string, error) { return "any", nil }})
	if err != nil {
		t.Fatal(err)
	}
	log, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	again := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	})
	options := []runner.Option{runner.WithLog(log), runner.WithHook("again", again), runner.WithAutoRecover(true)}
	h := &harness{log: log}
	for i := range cutRuns {
		name := fmt.Sprintf("m%d", i)
		says := []string{saying("one", 100+i), saying("two", 80+5*i), saying("three", 150)}
		lab.Script(name, faultlab.CutAfter(says[0]), faultlab.ErrorEventAfter(says[1]), faultlab.Answer(says[2]))
		h.models, h.says = append(h.models, name), append(h.says, says)
		options = append(options, runner.WithModel("lab/"+name, model))
	}
	r := runner.New(options...)
	s := httptest.NewServer(gateway.New(gateway.Config{Runs: driven{r, context.WithoutCancel(t.Context())}, Log: log, Version: "test"}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

// saying is a text of so many words, all of them different.
func saying(what string, words int) string {
	var text strings.Builder
	for i := range words {
		fmt.Fprintf(&text, "%s-%d ", what, i)
	}
	return text.String()
}

// driven is a gateway.Runs that can only start runs.
type driven struct {
	r   *runner.Runner
	ctx context.Context
}

func (d driven) Start(_ context.Context, s gateway.Start) (string, error) {
	run, err := d.r.Start(d.ctx, runner.Request{Prompt: s.Prompt, Model: s.Model})
	if err != nil {
		return "", err
	}
	return run.ID(), nil
}

func (d driven) Inspect(ctx context.Context, id string) (*recovery.Run, error) {
	return d.r.Inspect(ctx, id)
}

func (driven) Recover(context.Context, string, gateway.Answer) error { return recovery.ErrExpired }
func (driven) Cancel(context.Context, string) error                  { return timeline.ErrNotFound }

func (h *harness) client(t *testing.T, transport http.RoundTripper) *client.Client {
	t.Helper()
	c, err := client.New(h.url, client.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cutter is a follower whose connections break.
type cutter struct {
	t    *testing.T
	run  string
	says []string // by the run's model, then by attempt

	mu    sync.Mutex
	dice  *rand.Rand
	cuts  int
	live  int  // cuts before the run had ended
	ended bool // as far as this follower knows
}

func (c *cutter) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// play follows the run to its end again and again, like somebody who reloads a page, until it was
// cut often enough. The last time nothing breaks.
func (c *cutter) play(h *harness) {
	for done := false; !done && !c.t.Failed(); {
		done = c.tired()
		c.once(h)
	}
}

func (c *cutter) tired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts >= cutsOfEach
}

// once follows the run from its beginning to its end. Now and then the following program is
// replaced by another one, which continues after the last event.
func (c *cutter) once(h *harness) {
	transport := &http.Transport{DialContext: c.dial}
	defer transport.CloseIdleConnections()
	var view client.View
	for view.State.End == nil {
		before := view.State.Seq
		for item, err := range h.client(c.t, checkingTransport{c, transport}).Follow(c.t.Context(), c.run, before) {
			if err != nil {
				c.t.Errorf("I29: run %s after event %d: %v", c.run, view.State.Seq, err)
				return
			}
			if !c.show(&view, item) {
				return
			}
			if c.roll(100) == 0 {
				break
			}
		}
		if c.t.Context().Err() != nil {
			return
		}
	}
	want, err := h.log.Read(c.t.Context(), c.run, 0, 0)
	if err != nil {
		c.t.Error(err)
		return
	}
	state, err := recovery.Fold(want)
	if err != nil || view.State.Seq != state.Seq || view.Text() != state.Answer() || view.Text() != c.says[len(c.says)-1] {
		c.t.Errorf("I09: run %s, at event %d of %d, shows %q (%v)", c.run, view.State.Seq, state.Seq, view.Text(), err)
	}
}

// show shows one item, and reports whether it may come next.
func (c *cutter) show(view *client.View, item client.Item) bool {
	if e := item.Event; e != nil {
		if e.Seq != view.State.Seq+1 {
			c.t.Errorf("I29: run %s: event %d follows event %d", c.run, e.Seq, view.State.Seq)
			return false
		}
	}
	if err := view.Apply(item); err != nil {
		c.t.Errorf("I29: run %s: %v", c.run, err)
		return false
	}
	c.mu.Lock()
	c.ended = c.ended || view.State.End != nil
	c.mu.Unlock()
	if a := view.State.Attempt; a != nil && !strings.HasPrefix(c.says[a.ID-1], view.Text()) {
		c.t.Errorf("I09: run %s shows %q in attempt %d", c.run, view.Text(), a.ID)
		return false
	}
	return true
}

// dial makes a connection that breaks after a number of bytes, or after a time.
func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil || c.tired() {
		return conn, err
	}
	cut := &breakingConn{Conn: conn, cutter: c, left: 1 << 30}
	if c.roll(2) == 0 {
		cut.left = c.roll(6000)
	} else {
		time.AfterFunc(time.Duration(c.roll(200))*time.Millisecond, cut.breakNow)
	}
	return cut, nil
}

// breakingConn is a connection that breaks.
type breakingConn struct {
	net.Conn
	cutter *cutter
	left   int // bytes until it breaks
	once   sync.Once
}

var errCut = errors.New("cut")

func (f *breakingConn) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p[:min(len(p), max(f.left, 1))])
	if f.left -= n; f.left <= 0 && err == nil {
		f.breakNow()
		return n, errCut
	}
	return n, err
}

// breakNow breaks the connection, and counts that if it was in use.
func (f *breakingConn) breakNow() {
	if f.Close() != nil {
		return
	}
	f.cutter.mu.Lock()
	defer f.cutter.mu.Unlock()
	f.cutter.cuts++
	if !f.cutter.ended {
		f.cutter.live++
	}
}

// Close reports whether it was closed before.
func (f *breakingConn) Close() (err error) {
	err = net.ErrClosed
	f.once.Do(func() { err = f.Conn.Close() })
	return err
}

// checkingTransport checks the ids that a gateway sends, since the client hides a repeat.
type checkingTransport struct {
	c    *cutter
	next http.RoundTripper
}

func (m checkingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	last, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64)
	resp.Body = &mindedBody{ReadCloser: resp.Body, c: m.c, last: last}
	return resp, nil
}

type mindedBody struct {
	io.ReadCloser
	c    *cutter
	last uint64
	line []byte // an unfinished line
}

func (b *mindedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, piece := range bytes.SplitAfter(p[:n], []byte("\n")) {
		b.line = append(b.line, piece...)
		if !bytes.HasSuffix(piece, []byte("\n")) {
			continue
		}
		if id, ok := bytes.CutPrefix(bytes.TrimSpace(b.line), []byte("id: ")); ok {
			if string(id) != strconv.FormatUint(b.last+1, 10) {
				b.c.t.Errorf("I29: run %s: the gateway sends event %s after event %d", b.c.run, id, b.last)
			}
			b.last++
		}
		b.line = b.line[:0]
	}
	return n, err
}
