package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/mulligan-run/mulligan/recovery"
)

// maxEvent is the most that one event of a stream holds, in bytes.
const maxEvent = 16 << 20

// silence is how long a stream without any sign of life is waited for; a gateway gives one
// every 15 s. Of a connection whose other end has vanished nothing else tells.
const silence = 40 * time.Second

// Item is what a follower gets: exactly one of its fields is set.
type Item struct {
	Event  *recovery.Event
	Delta  *Delta
	Notice string // a line for people that no event says
	// Situation is what a person should see from the event numbered in it on; it comes before
	// the event by which it changed.
	Situation *recovery.Situation
}

// Delta is a live piece of an attempt's text. Whoever has more of it already, or misses a
// piece before it, drops it.
type Delta struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset"` // in bytes; reasoning has offsets of its own
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

var (
	// errEnd ends a stream that has come to the run's end.
	errEnd = errors.New("the run has ended")
	// errResync ends a stream that this client has not read fast enough.
	errResync = errors.New("too far behind: come back")
)

// Follow yields what happens to a run after the event numbered after: durable events in
// order, each once, and live deltas as they come. A connection that breaks is made again,
// for as long as ctx lives. It ends without an error once the run has ended or ctx ends;
// otherwise its last item is an error.
func (c *Client) Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for tries := 0; ; {
			before := after
			err := c.stream(ctx, run, &after, func(item Item) bool { return yield(item, nil) })
			switch {
			case errors.Is(err, errEnd), ctx.Err() != nil:
				return
			case err != nil && !passing(err):
				yield(Item{}, err)
				return
			case after != before: // it went well for a while: come back at once
				tries = 0
				continue
			case errors.Is(err, errResync): // it was all right, and had nothing durable
				tries = 0
			}
			if pause(ctx, tries) != nil {
				return
			}
			tries++
		}
	}
}

// stream follows over one connection. It gives errEnd once nothing more will come, also
// because the consumer wants nothing more.
func (c *Client) stream(ctx context.Context, run string, after *uint64, tell func(Item) bool) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if *after > 0 {
		header.Set("Last-Event-ID", strconv.FormatUint(*after, 10))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	resp, err := c.send(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(run)+"/events", header, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for sent, err := range sse.Read(alive{resp.Body, quiet}, &sse.ReadConfig{MaxEventSize: maxEvent}) {
		if err != nil {
			return err
		}
		item, err := itemOf(sent)
		switch {
		case err != nil:
			return err
		case item == Item{}:
			continue
		case item.Event != nil && item.Event.Seq <= *after:
			continue
		case item.Event != nil:
			*after = item.Event.Seq
		}
		if !tell(item) {
			return errEnd
		}
	}
	return nil
}

// alive reads a stream, and puts its end off whenever something comes.
type alive struct {
	io.Reader
	quiet *time.Timer
}

func (a alive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.quiet.Reset(silence)
	}
	return n, err
}

func itemOf(sent sse.Event) (Item, error) {
	var item Item
	var err error
	switch sent.Type {
	case "event":
		item.Event = &recovery.Event{}
		err = json.Unmarshal([]byte(sent.Data), item.Event)
	case "situation":
		item.Situation = &recovery.Situation{}
		err = json.Unmarshal([]byte(sent.Data), item.Situation)
		if err == nil && len(item.Situation.Stages) == 0 {
			err = errors.New("a situation without a stage")
		}
	case "delta":
		item.Delta = &Delta{}
		err = json.Unmarshal([]byte(sent.Data), item.Delta)
	case "notice":
		var n struct{ Text string }
		err = json.Unmarshal([]byte(sent.Data), &n)
		item.Notice = n.Text
	case "resync":
		return Item{}, errResync
	case "end":
		return Item{}, errEnd
	}
	if err != nil {
		return Item{}, fmt.Errorf("the stream of the run cannot be read: %w", err)
	}
	return item, nil
}
