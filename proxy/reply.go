package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// writeTime is how long a caller may take to read one write.
const writeTime = 5 * time.Minute

// armEvery is the shortest time between two settings of the write deadline, because setting
// it for every word would cost too much.
const armEvery = time.Second

// errGone says that the caller has stopped reading.
var errGone = errors.New("the caller does not read its answer any more")

// reply writes the answer to its connection, on the caller's wire, one write at a time.
type reply struct {
	asked asked
	now   func() time.Time

	mu      sync.Mutex
	w       http.ResponseWriter
	run     string
	opened  bool // the status is sent
	over    bool // nothing may be written any more
	unsent  bool // something was written but not flushed
	last    time.Time
	armed   time.Time // when the write deadline was last set
	encoder *wire.Encoder
	unsaid  unsaid     // not yet given to the encoder
	answer  llm.Answer // to a call without streaming
	voice   wire.Head
	begun   bool // the answer's first delta was said
	// document is the answer to a call without streaming, as it came; empty = it has to be made.
	document []byte
}

// tell sets the headers that name the model; they have an effect until the status is sent.
func (r *reply) tell(model string, attempts int) {
	h := r.w.Header()
	h.Set("X-Mulligan-Run", r.run)
	h.Set("X-Mulligan-Attempts", strconv.Itoa(attempts))
	h.Set("X-Mulligan-Model", model)
}

// say passes on what is heard of model. Frames are written as they came, and their deltas are
// remembered in case another wire has to go on from there. If more follows at once, both are sent
// together.
func (r *reply) say(model string, attempts int, framed bool, deltas []llm.Delta, more bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		return errGone
	case len(deltas) == 0:
		return r.send(more)
	}
	if !r.opened {
		r.tell(model, attempts)
	}
	if !framed {
		r.unsaid.encode(r.encoder) // the caller has it already, in frames
	}
	var frames []byte
	for i, d := range deltas {
		if d.Kind == llm.DeltaFrame {
			frames = joined(frames, d.Frame.Data)
			r.head(d.Frame)
			if i+1 == len(deltas) || deltas[i+1].Kind == llm.DeltaFrame {
				r.silent(d.Frame)
			}
			continue
		}
		if !r.begun {
			r.begin(model, idIn(frames, r.asked.dialect.id))
			if d.Kind != llm.DeltaStart {
				r.note(llm.Delta{Kind: llm.DeltaStart}, nil)
			}
		}
		r.note(d, frames)
	}
	switch {
	case framed && !r.asked.Stream:
		r.document = append(r.document, frames...)
		return nil
	case !r.asked.Stream:
		return nil
	case framed && len(frames) == 0:
		return r.send(more)
	case framed:
		return r.stream(frames, more)
	}
	return r.stream(r.unsaid.encode(r.encoder), more)
}

// note keeps d, which was made from the last of frames, for the encoder of a streamed answer, or
// for the document that is made at the end.
func (r *reply) note(d llm.Delta, frames []byte) {
	if r.asked.Stream {
		r.unsaid.add(d, frames)
	} else {
		r.answer.Add(d)
	}
}

// joined is a followed by b; b itself if a is empty.
func joined[E any](a, b []E) []E {
	if len(a) == 0 {
		return slices.Clip(b)
	}
	return append(a, b...)
}

// head copies the head of an answer in frames to the caller.
func (r *reply) head(f *llm.Frame) {
	if f.Status > 0 && !r.opened {
		passHeaders(r.w.Header(), f.Header)
	}
}

// silent passes over a frame that no delta was made from: it may end a part of the answer.
func (r *reply) silent(f *llm.Frame) {
	if d := r.asked.dialect; r.asked.Stream && d.part != "" && bytes.Contains(f.Data, []byte(d.ends)) {
		r.unsaid.leave(partIn(f.Data, d.part))
	}
}

func (r *reply) begin(model, id string) {
	r.begun = true
	_, name, _ := strings.Cut(model, "/")
	r.voice = wire.Head{ID: cmp.Or(id, newID(r.asked.dialect.idPrefix)), Model: name, Created: r.now().Unix(), NewID: r.unsaid.newID}
	r.encoder = wire.NewEncoder(r.asked.dialect.voice(r.asked, r.voice))
}

// stream writes frames, and the status before the first ones; more is as in say.
func (r *reply) stream(frames []byte, more bool) error {
	if !r.opened {
		kind := "text/event-stream"
		if r.asked.array {
			kind = "application/json"
		}
		r.suggest("Content-Type", kind)
		r.suggest("Cache-Control", "no-cache")
		r.open(http.StatusOK)
	}
	return r.write(frames, more)
}

// suggest sets a header unless the provider has set it.
func (r *reply) suggest(name, value string) {
	if r.w.Header().Get(name) == "" {
		r.w.Header().Set(name, value)
	}
}

func (r *reply) open(status int) {
	r.opened = true
	r.w.WriteHeader(status)
}

func (r *reply) write(data []byte, more bool) error {
	r.last = r.now()
	control := http.NewResponseController(r.w)
	if r.last.Sub(r.armed) >= armEvery {
		r.armed = r.last
		_ = control.SetWriteDeadline(r.last.Add(writeTime)) // test writers have no deadline
	}
	if _, err := r.w.Write(data); err != nil {
		return errors.Join(errGone, err)
	}
	r.unsent = true
	return r.send(more)
}

// send flushes what was written, unless more follows at once.
func (r *reply) send(more bool) error {
	if more || !r.unsent {
		return nil
	}
	r.unsent = false
	if err := http.NewResponseController(r.w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errors.Join(errGone, err)
	}
	return nil
}

// live sends a keep-alive if nothing was sent for that long. Callers that do not stream get none,
// nor do those on a wire without keep-alives.
func (r *reply) live(model string, attempts int, quiet time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	alive := r.asked.dialect.voice(r.asked, wire.Head{}).Alive(nil)
	if r.over || !r.asked.Stream || len(alive) == 0 || r.now().Sub(r.last) < quiet {
		return nil
	}
	if !r.opened {
		r.tell(model, attempts)
	}
	return r.stream(alive, false)
}

// leave ends all writing, because after it the connection belongs to the server again.
func (r *reply) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// finish ends the answer with the rest of it. The rest of a stream is sent with its end, which the
// server writes as soon as the call is over.
func (r *reply) finish(model string, attempts int, framed bool, rest []llm.Delta) error {
	if err := r.say(model, attempts, framed, rest, true); err != nil || r.asked.Stream {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(model, attempts)
	if len(r.document) == 0 {
		r.document = r.asked.dialect.document(r.voice, r.answer.Message(r.voice.Model), r.answer.Stop, r.answer.Usage)
	}
	r.suggest("Content-Type", "application/json")
	r.open(http.StatusOK)
	return r.write(r.document, false)
}

// fail ends the answer with an error, or sends one. head and body are the provider's own
// response, if the caller is to get it.
func (r *reply) fail(model string, attempts int, f *failure.Failure, head *llm.Frame, body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := r.asked.dialect.reportOf(f, r.run)
	if r.opened {
		if !r.begun {
			r.begin(model, "")
		}
		r.unsaid.encode(r.encoder)
		return r.stream(r.encoder.Fail(report, nil), false)
	}
	r.tell(model, attempts)
	h := r.w.Header()
	h.Set("X-Should-Retry", "false")
	if after := retryAfter(f, r.now()); after != "" {
		h.Set("Retry-After", after)
	}
	if head != nil {
		passHeaders(h, head.Header)
		r.open(head.Status)
		return r.write(body, false)
	}
	h.Set("Content-Type", "application/json")
	r.open(report.Status)
	return r.write(r.asked.dialect.refusal(report), false)
}
