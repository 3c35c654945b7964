package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// message is an event of an event stream.
type message struct {
	id   uint64 // 0 = none
	kind string
	data []byte
}

const (
	kindEnd    = "end"
	kindResync = "resync"
)

// maxLine bounds a line of a stream, in bytes.
const maxLine = 16 << 20

// messages reads a stream of server-sent events as the gateway writes it; data is
// valid until the next one is read. Unlike a client it neither reconnects nor ignores
// duplicates, so that it hides no mistake.
func messages(body io.Reader) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, 4<<10), maxLine)
		var m message
		for lines.Scan() {
			name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
			switch string(name) {
			case "id":
				m.id, _ = strconv.ParseUint(string(value), 10, 64)
			case "event":
				m.kind = string(value)
			case "data":
				m.data = append(m.data[:0], value...)
			case "":
				if m.kind != "" && !yield(m, nil) {
					return
				}
				m = message{data: m.data[:0]}
			}
		}
		if err := lines.Err(); err != nil {
			yield(message{}, err)
		}
	}
}

// follower follows one run over one connection and checks what it gets.
type follower struct {
	wrong  *wrongs
	run    string
	screen *client.View // what a client would show; nil = not needed
	lag    func(sent time.Time, lag time.Duration)
	told   func(recovery.Event) // called for each event; nil = not needed

	seq   uint64
	asked time.Time     // when the run's first request reached the provider
	first time.Duration // from sending the first delta until it arrived here
	last  time.Time     // when the last delta was sent
	ended time.Time     // when the end of the stream arrived
}

// follow reads until the run ends, and reconnects if it is told to. A stream that stops
// otherwise is an error.
func (f *follower) follow(ctx context.Context, s *served) {
	for {
		again, err := f.listen(ctx, s)
		if err != nil {
			f.wrong.add("run %s, after event %d: %v", f.run, f.seq, err)
		}
		if !again || err != nil {
			return
		}
	}
}

var errStops = errors.New("the stream stops, and nobody says that the run has ended")

// listen reads one stream, and reports whether it ends with the request to reconnect.
func (f *follower) listen(ctx context.Context, s *served) (again bool, err error) {
	err = s.open(ctx, f.run, f.seq, func(body io.Reader) error {
		for m, err := range messages(body) {
			switch {
			case err != nil:
				return err
			case !f.ended.IsZero():
				return fmt.Errorf("after its end the stream goes on: %s", m.kind)
			case m.kind == kindEnd:
				f.ended = time.Now() // the next run gets the connection after this stream
				continue
			case m.kind == kindResync:
				again = true
				return nil
			}
			if err := f.hear(m); err != nil {
				return err
			}
		}
		if f.ended.IsZero() {
			return errStops
		}
		return nil
	})
	return again, err
}

// open follows a run from after an event.
func (s *served) open(ctx context.Context, run string, after uint64, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/runs/"+run+"/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if after > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatUint(after, 10))
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("following it gives %s", resp.Status)
	}
	return read(resp.Body)
}

func (f *follower) hear(m message) error {
	switch m.kind {
	case "delta":
		return f.delta(m.data)
	case "event":
		if m.id != f.seq+1 {
			f.wrong.add("run %s: event %d follows event %d", f.run, m.id, f.seq)
		}
		f.seq = m.id
		if f.screen != nil {
			return f.event(m.data)
		}
	}
	return nil
}

func (f *follower) delta(data []byte) error {
	now := time.Now()
	var d client.Delta
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	if sent, ok := stamp(d.Text, markSent); ok {
		f.last = sent
		f.lag(sent, now.Sub(sent))
		if asked, ok := stamp(d.Text, markAsked); ok {
			f.asked, f.first = asked, now.Sub(sent)
		}
	}
	if f.screen == nil {
		return nil
	}
	return f.screen.Apply(client.Item{Delta: &d})
}

// event shows an event. Before the answer, the screen may only show text that the answer
// begins with.
func (f *follower) event(data []byte) error {
	var e recovery.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	if e.Seq != f.seq {
		f.wrong.add("run %s: event %d has the id %d", f.run, e.Seq, f.seq)
	}
	if a, ok := e.Body.(recovery.Answered); ok && !strings.HasPrefix(a.Message.Text(), f.screen.Text()) {
		f.wrong.add("run %s: the screen does not have what the answer begins with", f.run)
	}
	if f.told != nil {
		f.told(e)
	}
	return f.screen.Apply(client.Item{Event: &e})
}

// settled checks that the run completed.
func (f *follower) settled() {
	if f.screen.State.Status != recovery.StatusCompleted {
		f.wrong.add("run %s is %s: %s", f.run, f.screen.State.Status, f.screen.Notice)
	}
}
