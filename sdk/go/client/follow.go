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

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 16 << 20

// silence is how long a stream may send nothing; a gateway sends a keep-alive every 15 s.
// Nothing else reveals that a connection's other end has vanished.
const silence = 40 * time.Second

// Item is what a follower gets: exactly one field is set.
type Item struct {
	Event  *recovery.Event
	Delta  *Delta
	Notice string // a line for people that is in no event
	// Situation is what a person should see from the event with its Seq on. It comes before
	// that event.
	Situation *recovery.Situation
}

// Delta is a live piece of an attempt's text. A client drops it if it has that text
// already, or misses a piece before it.
type Delta struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset"` // in bytes; reasoning has its own offsets
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

var (
	// errEnd ends a stream at the end of the run.
	errEnd = errors.New("the run has ended")
	// errResync ends a stream that this client did not read fast enough.
	errResync = errors.New("too far behind: reconnect")
)

// Follow yields what happens to a run after the event with number after: durable events
// in order, each once, and live deltas as they come. It reconnects after a failure, as
// long as ctx is alive. It ends without an error when the run has ended or ctx ends;
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
			case after != before: // it worked for a while: reconnect at once
				tries = 0
				continue
			case errors.Is(err, errResync): // the connection was fine, but sent nothing durable
				tries = 0
			}
			if pause(ctx, tries) != nil {
				return
			}
			tries++
		}
	}
}

// stream follows over one connection. It returns errEnd when nothing more will come, or
// when the consumer stops.
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

// alive reads a stream and extends its deadline whenever something arrives.
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
