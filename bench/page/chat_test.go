package page

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/faultlab"
)

// TestMessagesWait: messages that are sent while a model answers wait for the answer, in order and
// across a reload. A message that is taken back is not sent, and after a failure none is sent
// automatically.
func TestMessagesWait(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.play(opus, faultlab.StallAfter("Monday is"), faultlab.SlowAnswer(words(60), 50*time.Millisecond), faultlab.Answer("Second."), faultlab.Unauthorized())
	w := h.ask(false)
	w.says(".prose", "Monday is")
	for _, text := range []string{"first", "never", "second"} {
		w.send(text)
		w.says(".queue", text)
	}
	eval[any](w, `document.querySelectorAll('.queue li')[1].querySelector('button').click()`)
	w.wait(`document.querySelectorAll('.queue li').length === 2`)
	w.reload()
	w.wait(`[...document.querySelectorAll('.queue .waits')].map((e) => e.innerText).join() === 'first,second'`)
	w.looks(source, "queue")
	w.be(desktop)
	w.press("Interrupt")
	w.wait(`document.querySelectorAll('.run').length === 3 && !document.querySelector('.queue')`) // the second is sent automatically
	w.says(".run:last-child .prose", "Second.")
	if got := eval[string](w, `[...document.querySelectorAll('.bubble')].map((e) => e.innerText).join()`); got != "Plan my week,first,second" {
		t.Errorf("sent is %s", got)
	}
	w.send("and now?")
	w.says(".card", "rejected")
}

// TestAQueuedMessageThatIsNotSentIsKept, and so is what is being written.
func TestAQueuedMessageThatIsNotSentIsKept(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.StallAfter("Monday is"), faultlab.Answer("Done."))
	w := h.ask(false)
	w.says(".prose", "Monday is")
	w.send("first")
	w.says(".queue", "first")
	w.do(chromedp.SendKeys("#message", "not yet"))
	eval[any](w, `(() => { const real = window.fetch; window.real = real; window.fetch = (url, options) => String(url).endsWith('/v1/runs') && options?.method === 'POST' ?
		Promise.resolve(new Response('{"title":"No room"}', {status: 507, headers: {'Content-Type': 'application/problem+json'}})) : real(url, options); })()`)
	w.press("Interrupt")
	w.says("body", "No room")
	w.wait(`document.querySelector('.queue .waits')?.innerText === 'first' && document.querySelector('#message').value === 'not yet'`)
	eval[any](w, `window.fetch = window.real; void 0`)
	w.press("Send now")
	w.says(".run:last-child .prose", "Done.")
	w.wait(`!document.querySelector('.queue') && document.querySelector('#message').value === 'not yet'`)
}

// TestCopies: an answer, and each block of code in it, is copied as it was written.
func TestCopies(t *testing.T) {
	h := build(t)
	text := "Do **this**:\n\n```sh\nmake test\n```\n\nand then\n\n```\nmake all\n```\n"
	h.play(opus, faultlab.Answer(text))
	w := h.ask(false)
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed' && document.querySelectorAll('.ofcode').length === 2`)
	eval[any](w, `navigator.clipboard.writeText = (text) => { window.__copied = text; return Promise.resolve(); }; void 0`)
	for selector, want := range map[string]string{".signed .copy": text, ".ofcode .copy": "make test\n"} {
		eval[any](w, `document.querySelector(`+quote(selector)+`).click()`)
		w.wait(`document.querySelector(` + quote(selector) + `).getAttribute('aria-label') === 'Copied'`)
		if got := eval[string](w, `window.__copied`); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s copies %q", selector, got)
		}
	}
	if got := w.text(".prose"); strings.Contains(got, "Copy") {
		t.Errorf("the answer says %q", got)
	}
	w.press("Regenerate")
	w.wait(`document.querySelectorAll('.run').length === 2`)
	w.wait(`[...document.querySelectorAll('.bubble')].map((e) => e.innerText).join() === 'Plan my week,Plan my week'`)
}

// TestTheTitleSaysWhoWaits: the tab's title has the number of runs that wait for a person.
func TestTheTitleSaysWhoWaits(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Overloaded(), faultlab.Answer("Done."))
	w := h.ask(false)
	w.says(".card", "overloaded")
	w.wait(`document.title === '(1) Mulligan'`)
	w.press("Retry")
	w.wait(`document.title === 'Mulligan'`)
}

// TestAToolRowSaysWhatItDid: also while it is closed.
func TestAToolRowSaysWhatItDid(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.ToolCall("get_weather", `{"city":"Oslo"}`), faultlab.Answer("Clear."))
	w := h.ask(false)
	w.says(".prose", "Clear.")
	w.matches(".tool summary", `get_weather .*"city": "Oslo" → .*14 °C`)
}
