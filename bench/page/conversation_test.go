package page

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/runner"
)

const picker = `document.querySelector('select[aria-label=Model]')`

// TestTheModelThatIsShownIsAsked: when one returns to a conversation its own model is shown and
// asked, and not the one that the picker happens to have.
func TestTheModelThatIsShownIsAsked(t *testing.T) {
	h := build(t)
	w := h.open("/#/s/one", desktop)
	shows := func(model string) {
		t.Helper()
		w.wait(picker + `?.selectedOptions[0]?.innerText.trim() === ` + quote(model))
	}
	shows(opus)
	eval[any](w, picker+`.focus()`)
	w.key("ArrowDown", 0)
	w.wait(`document.querySelector('mulligan-chat').conversation.model === ` + quote(gptFull))
	for _, at := range []struct{ session, model string }{{"two", opus}, {"one", gpt}, {"two", opus}, {"one", gpt}} {
		eval[any](w, `location.hash = '#/s/`+at.session+`'`)
		w.wait(`document.querySelector('mulligan-chat').conversation.session === ` + quote(at.session))
		shows(at.model)
	}
}

// talk sends so many messages in a session, each of which is answered.
func (h *harness) talk(session string, messages int) {
	h.t.Helper()
	for i := range messages {
		run, err := h.runner.Start(context.Background(), runner.Request{Prompt: fmt.Sprintf("Message %d.", i), Session: session, Model: opusFull})
		if err != nil {
			h.t.Fatal(err)
		}
		if _, err := run.Wait(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
}

// TestOlderMessagesComeAboveWhatIsRead: older messages are loaded at the top, and what is being
// read does not move.
func TestOlderMessagesComeAboveWhatIsRead(t *testing.T) {
	const runs, page = 30, 20
	h := build(t)
	h.play(opus, faultlab.Answer(words(60)))
	h.talk("long", runs)
	w := h.open("/#/s/long", desktop)
	w.wait(fmt.Sprintf(`document.querySelectorAll('.badge').length === %d`, page))
	eval[any](w, `document.querySelector('.scroll').scrollTop = 0`)
	at := fmt.Sprintf(`Math.round([...document.querySelectorAll('.bubble')].find((b) => b.innerText === 'Message %d.').getBoundingClientRect().top)`, runs-page)
	w.press("Show earlier messages")
	w.wait(fmt.Sprintf(`document.querySelectorAll('.badge').length === %d`, runs))
	w.wait(`!document.querySelector('.older')`)
	const top, bottom = 52, 660 // of the visible part of a conversation
	earlier := strings.Replace(at, fmt.Sprintf("Message %d.", runs-page), fmt.Sprintf("Message %d.", runs-page-1), 1)
	for _, message := range []string{at, earlier} {
		w.wait(fmt.Sprintf("%s > %d && %s < %d", message, top, message, bottom))
	}
}

// TestTheMessageIsSeenWhole: the message box grows with the visible lines, also with wrapped ones,
// and shrinks again.
func TestTheMessageIsSeenWhole(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Good."))
	w := h.open("/", look{width: 390, height: 800, scale: 1, reduced: true})
	const height = `document.querySelector('#message').clientHeight`
	w.wait(`document.querySelector('#message')`)
	one := eval[int](w, height)
	eval[any](w, `(() => { const area = document.querySelector('#message'); area.value = `+quote(strings.Repeat("a word ", 20))+`; area.dispatchEvent(new Event('input')); })()`)
	w.wait(fmt.Sprintf(`%s > %d`, height, 2*one))
	if hidden := eval[int](w, `document.querySelector('#message').scrollHeight - `+height); hidden > 0 {
		t.Errorf("%d pixels of it are not seen", hidden)
	}
	w.press("Send")
	w.says(".prose", "Good.")
	w.wait(fmt.Sprintf(`%s === %d`, height, one))
}

// TestTheBoxIsAsHighAsItsHint: the hint in an empty box is longer while a model answers.
func TestTheBoxIsAsHighAsItsHint(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.SlowAnswer("Good. And well. And all is there.", 300*time.Millisecond))
	w := h.open("/", look{width: 390, height: 800, scale: 1, reduced: true})
	const height = `document.querySelector('#message').clientHeight`
	w.wait(`document.querySelector('#message')`)
	one := eval[int](w, height)
	w.send("Hello")
	w.wait(`document.querySelector('#message').placeholder.startsWith('Next')`)
	if got := eval[int](w, height); got != one {
		t.Errorf("the hint has one line, and the box is %d high, not %d", got, one)
	}
	w.be(look{width: 320, height: 800, scale: 1, reduced: true})
	w.wait(fmt.Sprintf(`%s > %d`, height, one))
	w.be(look{width: 390, height: 800, scale: 1, reduced: true})
	w.says(".prose", "And all is there.")
	w.wait(fmt.Sprintf(`%s === %d`, height, one))
}

// TestTextIsReadInItsOwnDirection: every block of a message, whoever wrote it.
func TestTextIsReadInItsOwnDirection(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Good morning.\n\nשלום!\n\n- אחת\n\n1. one"))
	w := h.open("/", desktop)
	w.send("מה שלומך?")
	w.wait(`document.querySelectorAll('.prose > .place > *').length === 4`)
	for selector, want := range map[string]string{
		".bubble": "rtl", ".top h1": "rtl", ".prose p:first-child": "ltr", ".prose p:nth-child(2)": "rtl", ".prose ul": "rtl", ".prose ol": "ltr",
	} {
		if got := eval[string](w, `getComputedStyle(document.querySelector(`+quote(selector)+`)).direction`); got != want {
			t.Errorf("%s is %s", selector, got)
		}
	}
}

// TestAMessageIsNotSentTwice: a message whose reply was lost is repeated with the same key, and so
// begins no second run.
func TestAMessageIsNotSentTwice(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Good."))
	w := h.open("/", desktop)
	w.wait(`document.querySelector('#message')`)
	eval[any](w, `(() => {
		const send = window.fetch;
		window.keys = [];
		window.fetch = async (url, options) => {
			const starts = options?.method === 'POST' && String(url).endsWith('/v1/runs');
			if (starts && window.keys.push(options.headers['Idempotency-Key']) === 1) {
				throw new TypeError('the connection broke');
			}
			return send(url, options);
		};
	})()`)
	w.send("hi")
	w.says(".trouble", "Mulligan is not answering")
	w.wait(`document.querySelector('#message').value === 'hi'`)
	w.press("Send")
	w.says(".prose", "Good.")
	w.send("hi")
	w.wait(`window.keys.length === 3`)
	if !eval[bool](w, `window.keys[0] === window.keys[1] && window.keys[1] !== window.keys[2]`) {
		t.Errorf("the keys are %s", eval[string](w, `window.keys.join(' ')`))
	}
}

// TestTheListOverTheConversation: on a phone the open list keeps the keyboard focus, and returns it
// when it is closed.
func TestTheListOverTheConversation(t *testing.T) {
	h := build(t)
	w := h.open("/", look{width: 390, height: 800, scale: 1, reduced: true})
	w.wait(`document.querySelector('#message')`)
	eval[any](w, `document.querySelector('.menu').click()`)
	w.wait(`document.activeElement?.matches('.side .new')`)
	for range 12 {
		w.key("Tab", 0)
		if eval[bool](w, `!!document.activeElement.closest('main')`) {
			t.Fatalf("the keyboard is at %s", eval[string](w, `document.activeElement.outerHTML`))
		}
	}
	w.key("Escape", 0)
	w.wait(`document.activeElement?.matches('.menu')`)
	eval[any](w, `document.querySelector('.menu').click()`)
	w.wait(`document.querySelector('main').inert`)
	w.be(desktop) // where there is room for both
	w.wait(`!document.querySelector('main').inert`)
}

// TestACoolingModelIsTold: the page says so, also of the model that is usually asked.
func TestACoolingModelIsTold(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	w.wait(picker + `?.options.length === 2`)
	eval[any](w, `(() => { const chat = document.querySelector('mulligan-chat'); chat.models = chat.models.map((m) => ({ ...m, cooling: { until: '', kind: 'auth' } })); })()`)
	w.wait(picker + `.selectedOptions[0].innerText.trim() === ` + quote(opus+" (cooling down)"))
}
