package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// reader follows a run through members, reconnecting when one breaks off, and checks what it
// receives against what followers are promised.
type reader struct {
	run   string
	ended chan struct{}
	early bool // the nemesis may stop its tool

	mu     sync.Mutex
	screen client.View
	seq    uint64
	shown  map[uint64]string // events in their stored form
	claims []recovery.Claimed
	begun  uint64               // the newest attempt
	spoke  map[uint64]time.Time // when each attempt first streamed text
	taken  map[uint64]time.Time // when each epoch was first seen
	wrong  []string
}

// read follows a run through those members in turn, beginning with the first.
func (c *cluster) read(run string, through ...*member) *reader {
	r := &reader{run: run, ended: make(chan struct{}), shown: map[uint64]string{}, spoke: map[uint64]time.Time{}, taken: map[uint64]time.Time{}}
	go func() {
		defer close(r.ended)
		for i := 0; c.Context().Err() == nil; i++ {
			if r.listen(c.Context(), through[i%len(through)]) {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return r
}

// listen reads one stream, and reports whether the run has ended.
func (r *reader) listen(ctx context.Context, m *member) (over bool) {
	r.mu.Lock()
	after := r.seq
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, err := m.follow(ctx, r.run, after)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	return r.stream(resp.Body)
}

// stream reads server-sent events.
func (r *reader) stream(body io.Reader) (over bool) {
	const maxLine = 16 << 20
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	var kind, data string
	var id uint64
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(name) {
		case "id":
			id, _ = strconv.ParseUint(string(value), 10, 64)
		case "event":
			kind = string(value)
		case "data":
			data = string(value)
		case "":
			switch kind {
			case "end":
				return true
			case "resync":
				return false
			}
			r.take(kind, id, data)
			kind, data, id = "", "", 0
		}
	}
	return false
}

func (r *reader) complain(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *reader) take(kind string, id uint64, data string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch kind {
	case "event":
		r.event(id, data)
	case "delta":
		var d client.Delta
		if err := json.Unmarshal([]byte(data), &d); err != nil {
			r.complain("%s is no delta: %v", data, err)
		}
		if r.spoke[d.Attempt].IsZero() {
			r.spoke[d.Attempt] = time.Now()
		}
		if err := r.screen.Apply(client.Item{Delta: &d}); err != nil {
			r.complain("%v", err)
		}
	}
}

func (r *reader) event(id uint64, data string) {
	var e recovery.Event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		r.complain("%s is no event: %v", data, err)
		return
	}
	if id != r.seq+1 || e.Seq != id {
		r.complain("I02: run %s: event %d (%d) follows event %d", r.run, id, e.Seq, r.seq)
	}
	r.seq, r.shown[id] = id, data
	switch b := e.Body.(type) {
	case recovery.Claimed:
		if n := len(r.claims); n > 0 && r.claims[n-1].Epoch >= b.Epoch {
			r.complain("I34: run %s: epoch %d is given again, to %s after %s", r.run, b.Epoch, b.Owner, r.claims[n-1].Owner)
		}
		r.claims, r.taken[b.Epoch] = append(r.claims, b), time.Now()
	case recovery.Began:
		r.begun = b.Attempt
	case recovery.Answered:
		if text := r.screen.Text(); !strings.HasPrefix(b.Message.Text(), text) {
			r.complain("I09: run %s: %q was shown of %q", r.run, text, b.Message.Text())
		}
	}
	if err := r.screen.Apply(client.Item{Event: &e}); err != nil {
		r.complain("%v", err)
	}
}

// owner is who drives the run, and with which epoch, as far as the reader was shown.
func (r *reader) owner() (c recovery.Claimed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.claims); n > 0 {
		c = r.claims[n-1]
	}
	return c
}

// speaks reports whether the answer after the tool is being streamed.
func (r *reader) speaks() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Count(r.screen.Text(), " ") > 5
}

// after returns how long after then another owner was seen, and how long until it streamed text;
// false until both have happened.
func (r *reader) after(then time.Time) (claimed, spoke time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.taken {
		if at.After(then) && (claimed == 0 || at.Sub(then) < claimed) {
			claimed = at.Sub(then)
		}
	}
	if at := r.spoke[r.begun]; at.After(then.Add(claimed)) {
		spoke = at.Sub(then)
	}
	return claimed, spoke, claimed > 0 && spoke > 0
}
