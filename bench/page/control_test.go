package page

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
)

// controlRoom is a harness with runs of all kinds: three wait for a person, two of them for the
// same reason, one completed, and one was stopped.
func controlRoom(t *testing.T) *harness {
	h := build(t)
	h.keep()
	h.begin("What is a mulligan?", recovery.StatusCompleted, faultlab.Answer("A second shot."))
	h.begin("Plan my week", recovery.StatusFailed, faultlab.Overloaded())
	h.begin("Draft the quarterly report", recovery.StatusFailed, faultlab.Overloaded())
	h.begin("Summarise the inbox", recovery.StatusFailed, faultlab.Unauthorized())
	return h
}

// keep drives runs that are due, until the test ends.
func (h *harness) keep() {
	keeping, stop := context.WithCancel(h.t.Context())
	done := make(chan error, 1)
	go func() { done <- h.runner.Keep(keeping, nil) }()
	h.t.Cleanup(func() {
		stop()
		<-done
	})
}

// begin starts a run, and waits until it has a status.
func (h *harness) begin(prompt string, status recovery.Status, step faultlab.Step) {
	h.t.Helper()
	t := h.t
	var labels recovery.Labels
	if status == recovery.StatusFailed {
		labels = recovery.Labels{"tenant": "acme", "about": prompt[strings.LastIndex(prompt, " ")+1:]}
	}
	h.play(opus, step)
	id, err := (runs{h.runner, t.Context()}).Start(t.Context(), gateway.Start{Prompt: prompt, Model: opusFull, Fallbacks: []string{gptFull}, Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range h.log.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e := item.Event; e != nil && (e.Type() == "suggested" || e.Type() == "ended") {
			break
		}
	}
	if run, err := h.runner.Inspect(t.Context(), id); err != nil || run.Status != status {
		t.Fatalf("%s: %v, %v", prompt, run.Status, err)
	}
}

// enter opens the control room.
func (h *harness) enter(l look, search string) *window {
	h.t.Helper()
	w := h.open("/runs"+search, l)
	w.wait(`document.querySelectorAll('.row').length > 0 || document.querySelector('.empty')?.innerText.startsWith('No run')`)
	return w
}

const rows = `[...document.querySelectorAll('.row .name a')].map((a) => a.innerText)`

func TestTheControlRoom(t *testing.T) {
	h := controlRoom(t)
	w := h.enter(desktop, "")
	w.wait(`document.querySelectorAll('.row').length === 4 && document.querySelectorAll('.cause').length === 2`)
	w.says(".count", "3")
	w.says(".cause h3", "overloaded")
	w.says(".models", "ready")
	w.says("[aria-labelledby=plugins]", "pinned")

	// The filters are in the address, and are restored from it.
	eval[any](w, `(() => { const s = document.querySelector('input[type=search]'); s.value = 'QUARTERLY'; s.dispatchEvent(new Event('input', { bubbles: true })); })()`)
	w.wait(rows + `.join() === 'Draft the quarterly report' && location.search === '?text=QUARTERLY'`)
	again := h.enter(desktop, "?kind=overloaded&order=oldest")
	again.wait(rows + `.join() === 'Plan my week,Draft the quarterly report' && document.querySelector('.chip').innerText.startsWith('overloaded')`)
	again.press("overloaded ×")
	again.wait(rows + `.length === 4`)

	// Everything can be done with the keyboard.
	again.key("j", 0)
	again.key("j", 0)
	again.wait(`document.activeElement.dataset.at === '1'`)
	again.key("/", 0)
	again.wait(`document.activeElement.type === 'search'`)
	labelled := h.enter(desktop, "")
	labelled.wait(`[...document.querySelectorAll('.row .labels .word')].map((l) => l.innerText).join() === 'about=inbox,tenant=acme,about=report,tenant=acme,about=week,tenant=acme'`)
	labelled.key("j", 0)
	labelled.key("j", 0)
	for range 2 {
		labelled.strike(kb.ArrowRight)
	}
	labelled.wait(`document.activeElement.innerText === 'tenant=acme'`)
	labelled.strike(kb.ArrowLeft)
	labelled.wait(`document.activeElement.innerText === 'about=report'`)
	labelled.strike(kb.Enter)
	labelled.wait(rows + `.join() === 'Draft the quarterly report' && location.search === '?label=about%3Dreport'`)

	// Runs that wait for the same reason are answered together, after a preview of the effect.
	h.play(opus, faultlab.Answer("Here."), faultlab.Answer("Here."))
	again.press("Retry all")
	again.says(".bulk", "2 runs will go on")
	again.says(".bulk", "Plan my week")
	again.press("Retry: 2 runs")
	again.says(".bulk", "2 runs answered")
	again.wait(`document.querySelectorAll('.cause').length === 1 && [...document.querySelectorAll('.row .state')].filter((s) => s.innerText.trim() === 'Recovered').length === 2`)
	again.press("Close")
	again.lacks(".bulk")
}

// TestBulkAnswersByTheKeyboard: waiting runs are answered without a mouse, also by waiting until a
// limit ends. After a preview or a result is closed, the focus is on the button that opened it.
func TestBulkAnswersByTheKeyboard(t *testing.T) {
	h := controlRoom(t)
	h.advice = retryIn(2 * time.Hour)
	h.begin("Book the train", recovery.StatusFailed, faultlab.RateLimited(2*time.Hour))
	w := h.enter(desktop, "")
	w.wait(`document.querySelectorAll('.cause').length === 3`)
	const focused = `document.activeElement.innerText`
	reach := func(label string) {
		t.Helper()
		for range 40 {
			if strings.HasPrefix(eval[string](w, focused), label) {
				return
			}
			w.strike(kb.Tab)
		}
		t.Fatalf("the tabulator does not reach %q", label)
	}
	reach("Retry all")
	w.strike(kb.Enter)
	w.wait(focused + ` === 'Retry: 2 runs'`)
	w.strike(kb.Tab)
	w.strike(kb.Enter)
	w.lacks(".bulk")
	w.wait(focused + ` === 'Retry all'`)

	h.play(opus, faultlab.Answer("Here."), faultlab.Answer("Here."))
	w.strike(kb.Enter)
	w.wait(focused + ` === 'Retry: 2 runs'`)
	w.strike(kb.Enter)
	w.says(".bulk", "2 runs answered")
	w.wait(focused + ` === 'Close'`)
	w.strike(kb.Enter)
	w.lacks(".bulk")
	w.wait(`document.querySelectorAll('.cause').length === 2 && document.activeElement.matches('.needs button, .needs h2')`)

	reach("Continue at")
	w.strike(kb.Enter)
	w.wait(focused + `.endsWith(': 1 run')`)
	w.strike(kb.Enter)
	w.says(".bulk", "1 run answered")
	w.says(".row .state", "Waiting")
}

// TestLabelsOnAPhone: labels have a line of their own inside their row, and filter by touch and by
// key. If no row has labels, no space is reserved for them.
func TestLabelsOnAPhone(t *testing.T) {
	h := controlRoom(t)
	w := h.enter(looks["phone"], "")
	const boxes = `[...document.querySelectorAll('.row')].map((r) => { const b = r.getBoundingClientRect();
		return { tall: b.height, fit: [...r.querySelectorAll('.labels .word')].every((l) => { const c = l.getBoundingClientRect(), p = r.querySelector('.problem').getBoundingClientRect();
			return c.height >= 24 && c.top >= p.bottom - 4 && c.bottom <= b.bottom && c.left >= b.left && c.right <= b.right && l.checkVisibility(); }) }; })`
	w.wait(boxes + `.length === 4 && ` + boxes + `.every((r) => r.tall === 92 && r.fit)`)
	w.key("j", 0)
	for range 3 {
		w.strike(kb.ArrowRight)
	}
	w.wait(`document.activeElement.innerText === 'Anthropic rejected the API key'`)
	w.strike(kb.ArrowRight)
	w.wait(`document.activeElement.innerText === 'Anthropic rejected the API key'`) // elements that are hidden on a phone are skipped
	eval[any](w, `[...document.querySelectorAll('.labels .word')].find((l) => l.innerText === 'about=report').click()`)
	w.wait(rows + `.join() === 'Draft the quarterly report' && location.search === '?label=about%3Dreport'`)
	plain := h.enter(looks["phone"], "?status=completed")
	plain.wait(boxes + `.length === 1 && ` + boxes + `[0].tall === 64`)

	// A phone that is turned is laid out at once, without waiting for the next poll.
	eval[any](plain, `document.querySelector('mulligan-runs').look = () => {}`)
	plain.be(desktop)
	plain.wait(`document.querySelector('.all').style.height === '44px'`)
}

// TestTheControlRoomInScreenshots runs axe-core on every look, and takes screenshots.
func TestTheControlRoomInScreenshots(t *testing.T) {
	source := axe(t)
	h := controlRoom(t)
	w := h.enter(desktop, "")
	w.press("Retry all")
	w.says(".bulk", "2 runs will go on")
	w.looks(source, "runs")
	w.press("Cancel")
	w.lacks(".bulk")
	eval[any](w, `document.querySelector('.filters').scrollIntoView()`)
	w.looks(source, "runs-table")
}
