package page

import (
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/runner"
)

func learning(h *harness, _ *[]runner.Option) { h.learns = true }

// learn is gateway.Config's, with a table in memory.
func (h *harness) learn(f failure.Failure, kind failure.Kind) (gateway.Lesson, error) {
	row, err := failure.RowOf(&f, kind)
	if err != nil {
		return gateway.Lesson{}, err
	}
	table, err := failure.NewLocal([]failure.LocalRow{row})
	if err != nil {
		return gateway.Lesson{}, err
	}
	h.known.Store(table)
	return gateway.Lesson{Before: f.Kind, After: kind, Row: "- {kind: " + string(kind) + "}", File: "/there/failures.yaml", Warning: failure.Repeats(f.Kind, kind)}, nil
}

const choose = `(() => { const s = document.querySelector('.correction select'); s.value = 'overloaded'; s.dispatchEvent(new Event('change')); return true })()`

// In a failure's details a person can change its kind, after a warning about the effect. The next
// such failure has that kind.
func TestAPersonSaysWhatAFailureIs(t *testing.T) {
	h := build(t, learning)
	odd := refusal(400, "invalid_request_error", "Lane 7 is taken.")
	h.lab.Script(opus, odd, odd)
	w := h.open("/", desktop)
	w.send("hi")
	w.says(".card h3", "did not accept the request")
	w.press("Details")
	w.press("Wrong? Call it…")
	w.lacks(".correction .warning")
	w.wait(choose)
	w.says(".correction .warning", "sent again, which may cost money")
	w.press("Use this kind from now on")
	w.says(".learned", "Failures like this are overloaded from the next one on.")
	w.says(".learned", "- {kind: overloaded}")
	w.says(".learned", "Written to /there/failures.yaml")
	w.says(".card h3", "did not accept the request")
	w.send("again")
	w.says(".card h3", "Anthropic is overloaded")
}

// If corrections are not allowed, none is offered; nor is one for our own timers.
func TestNobodyIsAskedWhatAFailureIs(t *testing.T) {
	h := build(t)
	h.lab.Script(opus, faultlab.Overloaded())
	w := h.open("/", desktop)
	w.send("hi")
	w.says(".card h3", "Anthropic is overloaded")
	w.press("Details")
	w.says(".card .more", "Copy details")
	w.lacks(".wrong")
}
