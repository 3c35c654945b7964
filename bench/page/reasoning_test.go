package page

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

// TestReasoningIsOpened: it can be opened while the model thinks, stays open when the answer comes,
// and is there after a reload. It is hidden unless it is opened.
func TestReasoningIsOpened(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.play(opus, faultlab.Thinking("Friday is taken, so the report has to be done on Monday. "+words(200), faultlab.SlowAnswer("Monday is for the report. "+words(60), 40*time.Millisecond)))
	w := h.open("/", desktop)
	w.auto(false)
	eval[any](w, `new MutationObserver(() => { window.__alone ||= !!document.querySelector('.reasoning') && !document.querySelector('.prose'); })
		.observe(document, { childList: true, subtree: true }); void 0`)
	w.send("Plan my week")
	w.wait(`window.__alone`) // though the page may follow the run only when the model has begun to think
	if eval[bool](w, `document.querySelector('.reasoning').open`) {
		t.Error("it is open by itself")
	}
	w.press("Reasoning")
	w.says(".thought", "Friday is taken")
	w.says(".prose", "Monday is for the report.")
	w.says(".thought", "Friday is taken") // unchanged
	w.wait(`document.querySelector('.run').dataset.status === 'completed'`)
	w.says(".thought", "Friday is taken")
	if n := eval[int](w, `document.querySelectorAll('.reasoning').length`); n != 1 {
		t.Errorf("it is there %d times", n)
	}
	if !eval[bool](w, `document.querySelector('.reasoning').compareDocumentPosition(document.querySelector('.answer')) === Node.DOCUMENT_POSITION_FOLLOWING`) {
		t.Error("it does not stand before its answer")
	}
	w.looks(source, "reasoning")
	w.reload()
	w.says(".prose", "Monday is for the report.")
	w.press("Reasoning")
	w.says(".thought", "Friday is taken")
}

// TestJumpToLatest: the page does not scroll away from older text that is being read, and a button
// jumps to the end.
func TestJumpToLatest(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer(words(600)), faultlab.SlowAnswer(words(400), 30*time.Millisecond))
	w := h.ask(false)
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
	w.lacks(".latest")
	w.send("And then?")
	w.wait(`document.querySelectorAll('.run').length === 2 && document.querySelector('.run:last-child .prose')`)
	// More of the answer is rendered between the scrolling and the browser's telling of it.
	eval[any](w, `(() => {
		const s = document.querySelector('.scroll');
		s.dispatchEvent(new WheelEvent('wheel'));
		s.scrollTop = 0;
		document.querySelector('mulligan-chat').requestUpdate();
	})()`)
	w.wait(`document.querySelector('.latest')`)
	before := eval[int](w, `document.querySelector('.scroll').scrollHeight`)
	w.wait(`document.querySelector('.run:last-child').dataset.status === 'completed'`)
	if after := eval[int](w, `document.querySelector('.scroll').scrollHeight`); after <= before {
		t.Fatalf("the answer did not grow: %d, %d", before, after)
	}
	if at := eval[int](w, `document.querySelector('.scroll').scrollTop`); at != 0 {
		t.Errorf("the reader was taken to %d", at)
	}
	w.press("Jump to latest")
	w.wait(`(() => { const s = document.querySelector('.scroll'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2; })()`)
	w.lacks(".latest")
	w.wait(`document.activeElement?.id === 'message'`)
}
