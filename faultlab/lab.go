package faultlab

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	maxBody      = 8 << 20  // of one request
	maxKept      = 1024     // requests remembered
	maxKeptBytes = 64 << 20 // of their bodies together
	maxModels    = 256      // scripts that the control endpoint may make
	maxModelName = 256      // bytes
)

// Lab is a provider that plays scripts. It is an http.Handler and safe for
// concurrent use. Make one with [New].
type Lab struct {
	pace    time.Duration
	sealKey []byte
	closed  chan struct{}
	active  sync.WaitGroup

	mu        sync.Mutex
	shut      bool
	scripts   map[string]*script
	chaos     *chaos // nil = none
	kept      []Request
	keptBytes int
}

// script is a model's steps and how many of them have been played.
type script struct {
	steps []Step
	next  int
}

// Option is a setting of a new Lab.
type Option func(*Lab)

// WithPace sets a pause before each streamed chunk (default none), so that
// people can watch. SlowAnswer has its own.
func WithPace(perChunk time.Duration) Option { return func(l *Lab) { l.pace = perChunk } }

// New returns a lab without scripts: every model is unknown (404) until
// [Lab.Script] is called.
func New(opts ...Option) *Lab {
	l := &Lab{sealKey: newSealKey(), closed: make(chan struct{}), scripts: map[string]*script{}}
	for _, opt := range opts {
		opt(l)
	}
	return l
}

// Script replaces the script of a model and starts it from its first step; no
// steps takes the script away. Model "" is for all models without a script of
// their own; they share one place in it.
func (l *Lab) Script(model string, steps ...Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(model, steps)
}

func (l *Lab) set(model string, steps []Step) {
	if len(steps) == 0 {
		delete(l.scripts, model)
		return
	}
	l.scripts[model] = &script{steps: slices.Clone(steps)}
}

// trySet is Script within the bounds of the control endpoint.
func (l *Lab) trySet(model string, steps []Step) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(model) > maxModelName {
		return fmt.Errorf("model: longer than %d bytes", maxModelName)
	}
	if _, known := l.scripts[model]; !known && len(l.scripts) >= maxModels {
		return fmt.Errorf("model: more than %d scripts", maxModels)
	}
	l.set(model, steps)
	return nil
}

// take returns the step that the model's next request plays on a wire.
func (l *Lab) take(model, wire string) (Step, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if step, ok := l.disturb(model, wire); ok {
		return step, true
	}
	s, ok := l.scripts[model]
	if !ok {
		s, ok = l.scripts[""]
	}
	if !ok {
		return Step{}, false
	}
	return s.step(wire), true
}

// Close ends every answer in progress, hangs and stalls included, waits for
// them, and breaks the connection of every later request. It may be called
// twice, but not from within a request.
func (l *Lab) Close() error {
	l.mu.Lock()
	if !l.shut {
		l.shut = true
		close(l.closed)
	}
	l.mu.Unlock()
	l.active.Wait()
	return nil
}

// enter counts a request in; false after Close.
func (l *Lab) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.shut {
		l.active.Add(1)
	}
	return !l.shut
}

// ServeHTTP serves the wires and the control endpoints. Where a step asks
// for a broken answer it ends by panicking with http.ErrAbortHandler, as
// net/http provides for.
func (l *Lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !l.enter() {
		panic(http.ErrAbortHandler)
	}
	defer l.active.Done()
	switch r.URL.Path {
	case "/v1/messages":
		l.converse(w, r, anthropic)
	case "/v1/chat/completions":
		l.converse(w, r, openai)
	case "/v1/responses":
		l.converse(w, r, responses)
	case "/faultlab/script":
		l.serveScript(w, r)
	case "/faultlab/requests":
		l.serveRequests(w, r)
	default:
		if _, _, ok := geminiTarget(r.URL.Path); ok {
			l.converse(w, r, gemini)
			return
		}
		writeProblem(w, http.StatusNotFound, "no such route: "+r.URL.Path)
	}
}

// converse serves one request on a wire: read it, judge it, play its step.
func (l *Lab) converse(w http.ResponseWriter, r *http.Request, on *wire) {
	x := &exchange{lab: l, w: w, r: r, wire: on}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); err != nil && !errors.As(err, &tooLarge) {
		panic(http.ErrAbortHandler) // the client went away while it was asking
	}
	x.body = body
	refused := x.judge(body, err)
	var step Step
	if refused == nil {
		step, refused = x.choose()
	}
	l.keep(x.record(body, step, refused))
	if refused != nil {
		x.fail(refused)
		return
	}
	x.play(step)
}

// judge says why the request is refused, or nil.
func (x *exchange) judge(body []byte, readErr error) *fault {
	switch {
	case readErr != nil:
		return x.wire.fault(http.StatusRequestEntityTooLarge)
	case x.r.Method != http.MethodPost:
		return x.wire.invalid(http.StatusMethodNotAllowed, "Method Not Allowed")
	case !x.wire.keyed(x.r):
		return x.wire.fault(x.wire.keyless)
	}
	ask, refused := x.wire.check(x.query(body))
	ask.seal = x.lab.seal(x.wire.name, ask.model)
	x.ask = ask
	return refused
}

func (x *exchange) choose() (Step, *fault) {
	step, ok := x.lab.take(x.ask.model, x.wire.name)
	switch {
	case !ok:
		return step, x.wire.unknownModel(x.ask.model)
	case !step.plays(x.wire.name):
		return step, x.wire.invalid(http.StatusBadRequest, step.notHere(x.wire.name))
	}
	return step, nil
}
