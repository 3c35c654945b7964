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

// maxRequests is how many requests are kept that belong to one message of Pi's.
const maxRequests = 64

// requestObserver sees the requests of one Pi go by. A nil one sees nothing.
type requestObserver struct {
	secret  string // the way through the proxy
	routes  []route
	secrets []string    // hidden in failures, besides the keys that requests carry
	tell    func(event) // set before Pi is started
	leave   func()      // closes the way

	classify failure.Classifier // set before Pi is started; nil = failure.Classify

	mu       sync.Mutex
	model    string // full name, of what Pi is asked by
	turn     int
	requests []*observedRequest // since the last message
}

func newRequestObserver(secrets []string) *requestObserver {
	secret := rand.Text()
	return &requestObserver{secret: secret, secrets: append(slices.Clone(secrets), secret), tell: func(event) {}, leave: func() {}}
}

// own is what must not be seen of the observer itself.
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

// asks notes by which model Pi is asked from now on.
func (w *requestObserver) asks(model string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.model = model
}

// begin notes that a prompt begins a turn: what is under way belongs to none.
func (w *requestObserver) begin() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn++
	w.requests = nil
}

// arrive takes in a request.
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

// take gives the requests since the last message, one of which led to the message that Pi
// ends now. None is not nil, unless nobody looks.
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

// observedRequest is one request on its way.
type observedRequest struct {
	*observe.Watched
	observer *requestObserver
	turn     int
	begun    bool // the first event was told; only whoever reads the answer looks at it
}

// look tells the first event of the answer, once.
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

// cut reports whether an answer that has come to its end is none.
func (v *observedRequest) cut() bool {
	_, failed := failure.AsFailure(v.Err(nil))
	return failed && v.Status() < http.StatusMultipleChoices
}

// failure is what went wrong with the request. An answer that Pi itself did not hear to its
// end is for Pi to speak of.
func (v *observedRequest) failure() *failure.Failure {
	if !v.Settled() && v.Status() < http.StatusBadRequest {
		return nil
	}
	f, _ := failure.AsFailure(v.Err(nil))
	return f
}

// observedRequests is the requests that led to one message, in their order.
type observedRequests []*observedRequest

// failure is that of the last request that went wrong, with the status that Pi speaks of if
// it names one; and how many went wrong. It is nil where none was seen.
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

// requestID is the provider's name for the last request.
func (s observedRequests) requestID() string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1].RequestID()
}
