package page

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/runner"
)

const (
	// fromEnd is how far the end of the conversation is from what is seen of it, in pixels.
	fromEnd = `(() => { const s = document.querySelector('.scroll'); return Math.round(s.scrollHeight - s.scrollTop - s.clientHeight); })()`

	// settled comes once nothing has changed its place for some looks, still once nobody scrolls.
	settled = `still(s.scrollHeight + ' ' + s.scrollTop)`
	still   = `still(s.scrollTop)`
)

// rest waits until something stays as it is.
func (w *window) rest(what string) {
	w.t.Helper()
	w.wait(`(() => {
		const s = document.querySelector('.scroll');
		const still = (now) => { window.__still = window.__was === now ? window.__still + 1 : 0; window.__was = now; return window.__still >= 5; };
		return ` + what + `; })()`)
}

// tall is an answer that is many screens high, and that says what it is.
func tall(name string, sections int) string {
	var b strings.Builder
	for i := range sections {
		fmt.Fprintf(&b, "## %s, part %d\n\n```go\n%s```\n\n- one\n- two\n\n%s\n\n", name, i, strings.Repeat("fmt.Println(\"a line of code\")\n", 25), words(80))
	}
	return b.String()
}

// uneven is an answer of which the browser lays out what is near alone: its parts are much lower than they are taken for, and much
// higher, in turns, so that each that comes into sight brings others.
func uneven(name string) string {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "## %s, part %d\n\n", name, i)
		for range 6 {
			fmt.Fprintf(&b, "```\n%s```\n\n", strings.Repeat(strings.Repeat("wide ", 100)+"\n", 6))
		}
		fmt.Fprintf(&b, "```\n%s```\n\n", strings.Repeat("tall\n", 650))
	}
	return b.String()
}

// growing has the end of the conversation be further down each time that somebody scrolls, a few times: as what comes into sight is
// higher than it was taken for, which the browser finds out when it likes.
const growing = `(() => { let times = 5; let high = 0;
	document.querySelector('.scroll').addEventListener('scroll', () => {
		if (times > 0 && window.__jumps) { times--; high += 300; document.querySelector('.run:last-child').style.paddingBottom = high + 'px'; }
	}, { capture: true });
	window.__jump = () => { times = 5; window.__jumps = true; document.querySelector('.latest').click(); }; })()`

// TestJumpToLatest: the button leads to the very end of a long conversation, each time.
func TestJumpToLatest(t *testing.T) {
	const runs, shown = 31, 20
	h := build(t)
	for i := range runs {
		answer := tall("An answer", 1)
		if i == runs-1 {
			answer = uneven("The last answer")
		}
		h.play(opus, faultlab.Answer(answer))
		run, err := h.runner.Start(context.Background(), runner.Request{Prompt: fmt.Sprintf("Message %d.", i), Session: "tall", Model: opusFull})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w := h.open("/#/s/tall", desktop)
	w.wait(fmt.Sprintf(`document.querySelectorAll('.badge').length === %d`, shown))
	w.press("Show earlier messages")
	w.wait(fmt.Sprintf(`document.querySelectorAll('.badge').length === %d`, runs))
	eval[any](w, growing)
	for i := range 10 {
		w.rest(settled)
		eval[any](w, fmt.Sprintf(`(() => { const s = document.querySelector('.scroll'); window.__jumps = false; s.scrollTop = s.scrollHeight * %d / 11; })()`, i))
		w.says(".latest", "Jump to latest")
		eval[any](w, `window.__jump()`)
		w.rest(settled)
		if far := eval[int](w, fromEnd); far > 1 || !eval[bool](w, `!document.querySelector('.latest')`) {
			t.Errorf("jump %d ends %d px before the end", i, far)
		}
	}
	w.wait(`document.activeElement.id === 'message'`)
}

// TestWhatStreamsIsSeen: the end stays in sight while it is written, until a person goes up to read, who is left alone and
// sees how to come back.
func TestWhatStreamsIsSeen(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.SlowAnswer(tall("The answer", 60), 15*time.Millisecond))
	w := h.ask(false)
	height := 0
	for range 5 {
		w.wait(fmt.Sprintf(`document.querySelector('.scroll').scrollHeight > %d && %s <= 1`, max(height+150, 1000), fromEnd))
		height = eval[int](w, `document.querySelector('.scroll').scrollHeight`)
	}
	w.lacks(".latest")
	call(w, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 600, Y: 300, DeltaX: 1, DeltaY: -90})
	w.says(".latest", "Jump to latest")
	w.rest(still)
	at := eval[int](w, `Math.round(document.querySelector('.scroll').scrollTop)`)
	height = eval[int](w, `document.querySelector('.scroll').scrollHeight`)
	w.wait(fmt.Sprintf(`document.querySelector('.scroll').scrollHeight > %d`, height+400))
	if got := eval[int](w, `Math.round(document.querySelector('.scroll').scrollTop)`); got != at {
		t.Errorf("who read at %d is moved to %d", at, got)
	}
	if eval[bool](w, `document.querySelector('.run').dataset.status === 'completed'`) {
		t.Fatal("the answer was over before it was looked at")
	}
	w.press("Jump to latest")
	w.lacks(".latest")
	w.wait(fmt.Sprintf(`document.querySelector('.scroll').scrollHeight > %d && %s <= 1`, height+600, fromEnd))
	w.press("Stop")
}
