package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/wire"
)

// TransportConfig says which provider a Transport watches.
type TransportConfig struct {
	Name    string            // the entry's name in failures; "" = Type
	Type    string            // the wire: one of KnownTypes
	Base    http.RoundTripper // sends the requests; nil = like http.DefaultTransport, with at most 1 MiB of headers
	Secrets []string          // hidden in failures, in addition to keys in requests

	Classify failure.Classifier // classifies errors; nil = failure.Classify
}

// Transport is an http.RoundTripper for people who keep their own client library,
// under an llm.Model of their own. It sees how each call goes, which such libraries
// do not always tell:
//
//	transport, err := provider.NewTransport(provider.TransportConfig{Type: provider.TypeOpenAI})
//	client := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: transport}), option.WithMaxRetries(0))
//	…
//	ctx, call := provider.Watch(ctx)
//	stream := client.Chat.Completions.NewStreaming(ctx, params)
//	for stream.Next() { … }
//	err = call.Err(stream.Err())
//
// Bytes are passed on as they are and as they come. Redirects are refused, so that
// neither key nor prompt reach another host. A reader gets an error after 64 MiB of
// an answer or 4 MiB of a line or an event. It is safe for concurrent use.
type Transport struct {
	config  TransportConfig
	decoder func() wire.Decoder
}

// NewTransport makes a Transport. It fails for a type that is unknown or has no wire.
func NewTransport(cfg TransportConfig) (*Transport, error) {
	k, ok := known(cfg.Type)
	if !ok {
		return nil, fmt.Errorf("type %q is not known; there are %s", cfg.Type, KnownTypes())
	}
	if k.Wire == TypePi {
		return nil, fmt.Errorf("%q is a program: there is no transport between it and us", cfg.Type)
	}
	cfg.Name = cmp.Or(cfg.Name, cfg.Type)
	if cfg.Base == nil {
		cfg.Base = observe.DefaultBase()
	}
	return &Transport{config: cfg, decoder: wires[k.Wire].decoder}, nil
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Response != nil { // the http.Client is following a redirect
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, observe.ErrRedirect
	}
	watched := observe.Watch(r, t.config.Name, t.decoder(), t.config.Secrets)
	watched.Classified(t.config.Classify)
	if call, ok := r.Context().Value(callKey{}).(*Call); ok {
		call.begin(watched)
	}
	return watched.RoundTrip(t.config.Base, r)
}

type callKey struct{}

// Watch makes a Call that covers everything done with the returned context, through any Transport.
func Watch(ctx context.Context) (context.Context, *Call) {
	call := &Call{outer: ctx}
	return context.WithValue(ctx, callKey{}, call), call
}

// Call is one call of a client library, with all its requests. It is safe for concurrent use.
type Call struct {
	outer context.Context // the caller's

	mu       sync.Mutex
	attempts int
	last     *observe.Watched
}

func (c *Call) begin(watched *observe.Watched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts++
	c.last = watched
}

var errNoRequest = errors.New("no request was made through the transport")

// Err says how the call went, once the answer has been read; sdk is the client library's error, or
// nil. Err is nil only if sdk is nil and the last request's answer was whole: the wire's terminal
// event came, or the requested document was complete and reports no error. The caller's own
// cancellation is returned as its cause. Everything else is a *failure.Failure, of the kind that
// the adapters of this package would give it.
func (c *Call) Err(sdk error) error {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	var err error
	if last != nil {
		err = last.Err(sdk)
	} else {
		err = observe.PromptFailure("", "", cmp.Or(sdk, errNoRequest))
	}
	if err != nil && c.outer.Err() != nil {
		return context.Cause(c.outer)
	}
	return err
}

// FirstByte is when the last request's answer began; zero if it did not.
func (c *Call) FirstByte() time.Time { return c.when((*observe.Watched).FirstByte) }

// LastProgress is when the last request's answer last made progress, with text, reasoning or a tool
// call; pings and comments do not count. It is zero before FirstByte.
func (c *Call) LastProgress() time.Time { return c.when((*observe.Watched).LastProgress) }

func (c *Call) when(of func(*observe.Watched) time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		return time.Time{}
	}
	return of(c.last)
}

// Attempts is how many requests the client library has made: more than one means that it retries by
// itself.
func (c *Call) Attempts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attempts
}
