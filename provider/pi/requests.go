package pi

import (
	"crypto/rand"
	"net/http"
	"slices"
	"sync"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/wire"
)

// maxRequests is how many requests are remembered for one message of Pi's.
const maxRequests = 64

// requestObserver observes the requests of one Pi. A nil one observes nothing.
type requestObserver struct {
	secret  string // the way through the proxy
	routes  []route
	secrets []string    // hidden in failures, besides the keys that requests carry
	tell    func(event) // set before Pi is started
	leave   func()      // closes the way

	classify failure.Classifier // set before Pi is started; nil = failure.Classify

	mu       sync.Mutex
	model    string // full name of the model that Pi asks
	turn     int
	requests []*observedRequest // since the last message
}

func newRequestObserver(secrets []string) *requestObserver {
	secret := rand.Text()
	return &requestObserver{secret: secret, secrets: append(slices.Clone(secrets), secret), tell: func(event) {}, leave: func() {}}
}

// own are the observer's own secrets.
func (w *requestObserver) own() []string {
	if w == nil {
		return nil
	}
	return []string{w.secret}
}

// covers reports whether there is a way to that provider.
func (w *requestObserver) covers(provider string) bool {
	return slices.ContainsFunc(w.routes, func(r route) bool { return r.provider == provider })
}

// asks records which model Pi asks from now on.
func (w *requestObserver) asks(model string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.model = model
}

// begin records that a prompt begins a turn: requests under way do not belong to it.
func (w *requestObserver) begin() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn++
	w.requests = nil
}

// arrive records a request.
func (w *requestObserver) arrive(r *http.Request, via route, decoder wire.Decoder) *observedRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := &observedRequest{Watched: observe.Watch(r, via.provider, decoder, w.secrets), observer: w, turn: w.turn}
	v.Named(w.model)
	v.Classified(w.classify)
	if len(w.requests) == maxRequests {
		w.requests = w.requests[1:]
	}
	if r.Method == http.MethodPost { // a model is asked
		w.requests = append(w.requests, v)
	}
	return v
}

// end closes the way of a Pi that has ended.
func (w *requestObserver) end() {
	if w != nil {
		w.leave()
	}
}

// take returns the requests since the last message; one of them led to the message that Pi ends
// now. The result is nil only if requests are not observed.
func (w *requestObserver) take() observedRequests {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := append(observedRequests{}, w.requests...)
	w.requests = nil
	return seen
}

// observedRequest is one request in progress.
type observedRequest struct {
	*observe.Watched
	observer *requestObserver
	turn     int
	begun    bool // the first event was reported; only the reader of the answer uses this
}

// look reports the first event of the answer, once.
func (v *observedRequest) look() {
	if v.begun || v.FirstEvent().IsZero() {
		return
	}
	v.begun = true
	v.observer.mu.Lock()
	current := v.turn == v.observer.turn
	v.observer.mu.Unlock()
	if current {
		v.observer.tell(event{kind: answers, text: v.RequestID()})
	}
}

// cut reports whether an answer that has ended is incomplete.
func (v *observedRequest) cut() bool {
	_, failed := failure.AsFailure(v.Err(nil))
	return failed && v.Status() < http.StatusMultipleChoices
}

// failure is what went wrong with the request. If Pi itself did not read the answer to its end,
// that is left to Pi to report.
func (v *observedRequest) failure() *failure.Failure {
	if !v.Settled() && v.Status() < http.StatusBadRequest {
		return nil
	}
	f, _ := failure.AsFailure(v.Err(nil))
	return f
}

// observedRequests are the requests that led to one message, in order.
type observedRequests []*observedRequest

// failure is that of the last request that went wrong, with the status that Pi names if it names
// one, and how many went wrong. It is nil if none was seen.
func (s observedRequests) failure(status int) (last *failure.Failure, count int) {
	for _, v := range s {
		f := v.failure()
		if f == nil {
			continue
		}
		count++
		if status == 0 || status == v.Status() {
			last = f
		}
	}
	return last, count
}

// requestID is the provider's id for the last request.
func (s observedRequests) requestID() string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1].RequestID()
}
