package faultlab

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/wire"
)

const (
	maxBody      = 8 << 20 // of one request
	maxModels    = 256     // scripts that the control endpoint may make
	maxModelName = 256     // bytes
)

// Lab is a provider that plays scripts. It is an http.Handler and safe for
// concurrent use. Make one with [New].
type Lab struct {
	pace    time.Duration
	sealKey []byte
	closed  chan struct{}
	active  sync.WaitGroup

	watch func(Request)

	mu      sync.Mutex
	shut    bool
	scripts map[string]*script
	chosen  chosen
	chaos   *chaos // nil = none
	memory  memory
}

// script is a model's steps and how many of them have been played.
type script struct {
	steps []Step
	next  int
	again bool // from the first step after the last one, instead of the last one for ever
}

// Option is a setting of a new Lab.
type Option func(*Lab)

// WithPace sets the time between two streamed chunks (default none), so that people can watch.
// SlowAnswer has its own.
func WithPace(perChunk time.Duration) Option { return func(l *Lab) { l.pace = perChunk } }

// WithWatch calls f for each request on a wire as soon as its status is known, or it is known to
// get none. f must be quick and safe for concurrent use.
func WithWatch(f func(Request)) Option { return func(l *Lab) { l.watch = f } }

// New returns a lab without scripts: until [Lab.Script] is called every model is unknown (404),
// except those that choose by their names.
func New(opts ...Option) *Lab {
	l := &Lab{sealKey: newSealKey(), closed: make(chan struct{}), scripts: map[string]*script{}, memory: newMemory()}
	for _, opt := range opts {
		opt(l)
	}
	return l
}

// Script replaces the script of a model and starts it at its first step; without steps it removes
// the script. Model "" stands for all models without a script of their own, which share one
// position in it.
func (l *Lab) Script(model string, steps ...Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(model, steps)
}

func (l *Lab) set(model string, steps []Step) {
	l.memory.change()
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

var errUnknownModel = errors.New("unknown model")

// take returns the step that the model's next request plays on a wire.
func (l *Lab) take(model, wire string) (Step, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, own := l.scripts[model]
	if !own {
		if s, err := l.chosen.by(model); s != nil || err != nil {
			return s.step(wire), err
		}
	}
	if step, ok := l.disturb(model, wire); ok {
		return step, nil
	}
	if !own {
		s = l.scripts[""]
	}
	if s == nil {
		return Step{}, errUnknownModel
	}
	return s.step(wire), nil
}

// Close ends every answer in progress, including hangs and stalls, waits for them, and breaks the
// connection of every later request. It may be called twice, but not from within a request.
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

// enter counts a request as being served; false after Close.
func (l *Lab) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.shut {
		l.active.Add(1)
	}
	return !l.shut
}

// ServeHTTP serves the wires, the control endpoints and the page. If a step asks for a broken
// answer, it ends by panicking with http.ErrAbortHandler, as net/http provides for.
func (l *Lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !l.enter() {
		panic(http.ErrAbortHandler)
	}
	defer l.active.Done()
	switch r.URL.Path {
	case "/v1/messages":
		l.converse(w, r, messagesAPI)
	case "/v1/chat/completions":
		l.converse(w, r, chatAPI)
	case "/v1/responses":
		l.converse(w, r, responsesAPI)
	default:
		if _, _, ok := geminiTarget(r.URL.Path); ok {
			l.converse(w, r, geminiAPI)
			return
		}
		l.serveControl(w, r)
	}
}

// converse serves one request on a wire: it reads it, checks it and plays its step.
func (l *Lab) converse(w http.ResponseWriter, r *http.Request, on *service) {
	x := &exchange{lab: l, w: w, r: r, service: on}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); err != nil && !errors.As(err, &tooLarge) {
		panic(http.ErrAbortHandler) // the client went away while it was asking
	}
	refused := x.judge(body, err)
	var step Step
	if refused == nil {
		step, refused = x.choose()
	}
	number := l.keep(x.record(body, step, refused))
	x.w = watched{w, l, number}
	defer l.ended(number)
	if refused != nil {
		x.fail(refused)
		return
	}
	if step.mute(x.service.name) {
		l.answered(number, 0)
	}
	x.play(step)
}

// judge says why the request is refused, or nil.
func (x *exchange) judge(body []byte, readErr error) *wire.Report {
	stranger := foreign(x.r)
	switch {
	case stranger != "":
		return x.service.invalid(http.StatusForbidden, "faultlab: "+stranger)
	case readErr != nil:
		return x.service.fault(http.StatusRequestEntityTooLarge)
	case x.r.Method != http.MethodPost:
		return x.service.invalid(http.StatusMethodNotAllowed, "Method Not Allowed")
	case !x.service.keyed(x.r):
		return x.service.fault(x.service.keyless)
	}
	return x.read(body)
}

func (x *exchange) choose() (Step, *wire.Report) {
	step, err := x.lab.take(x.ask.model, x.service.name)
	switch {
	case errors.Is(err, errUnknownModel):
		return step, x.service.unknownModel(x.ask.model)
	case err != nil:
		return step, x.service.invalid(http.StatusBadRequest, "faultlab: "+err.Error())
	case !step.plays(x.service.name):
		return step, x.service.invalid(http.StatusBadRequest, step.notHere(x.service.name))
	}
	return step, nil
}
