package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/faultlab"
)

const bubbles = `[...document.querySelectorAll('.bubble')].map((e) => e.innerText).join()`

// edit presses Edit at the message with a text.
func (w *window) edit(text string) {
	w.t.Helper()
	button := `[...document.querySelectorAll('.user')].find((e) => e.querySelector('.bubble').innerText === ` + quote(text) + `)?.querySelector('.edit')`
	w.wait(button)
	eval[any](w, button+`.click()`)
	w.wait(`document.activeElement?.id === 'message' && document.activeElement.value === ` + quote(text))
}

// TestAnEarlierMessageIsEdited: a new conversation continues from there. Its model is told what was
// said before, and nothing of what came after; the old conversation stays.
func TestAnEarlierMessageIsEdited(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Monday."), faultlab.Answer("Tuesday."), faultlab.Answer("Wednesday."), faultlab.Answer("Thursday."), faultlab.Answer("Friday."))
	w := h.ask(false)
	w.says(".prose", "Monday.")
	w.send("And the second day?")
	w.says(".prose", "Tuesday.")
	w.send("And the third?")
	w.says(".prose", "Wednesday.")
	w.wait(`document.querySelector('.run:last-child').dataset.status === 'completed'`)
	was := eval[string](w, `location.hash`)
	w.do(chromedp.SendKeys("#message", "half a thought"))
	w.edit("And the second day?")
	w.says(".editing", "in a new conversation")
	w.key("Escape", 0)
	w.lacks(".editing")
	w.wait(`document.querySelector('#message').value === 'half a thought'`)
	w.edit("And the second day?")
	w.send(" In one word!")
	w.says(".prose", "Thursday.")
	w.wait(bubbles + ` === 'Plan my week,And the second day? In one word!'`)
	w.wait(`location.hash !== ` + quote(was))
	w.says(".top h1", "And the second day? In one word!")
	sent := h.lab.Requests()
	last := string(sent[len(sent)-1].Body)
	for text, want := range map[string]bool{"Plan my week": true, "Monday.": true, "In one word!": true, "Tuesday": false, "third": false} {
		if strings.Contains(last, text) != want {
			t.Errorf("the model is told %q: %t", text, !want)
		}
	}
	w.wait(`document.querySelector('.run:last-child').dataset.status === 'completed'`)
	w.edit("And the second day? In one word!") // of a conversation that began as a branch of another one
	w.send("\b?")
	w.says(".prose", "Friday.")
	w.wait(bubbles + ` === 'Plan my week,And the second day? In one word?'`)
	w.reload()
	w.wait(bubbles + ` === 'Plan my week,And the second day? In one word?'`)
	eval[any](w, `location.hash = `+quote(was))
	w.wait(bubbles + ` === 'Plan my week,And the second day?,And the third?'`)
	w.wait(`document.querySelector('#message').value === 'half a thought'`)
	w.edit("Plan my week")
	h.play(opus, faultlab.Answer("Saturday."))
	w.send(" now")
	w.says(".prose", "Saturday.")
	w.wait(bubbles + ` === 'Plan my week now'`)
}

// TestAMessageAtTheEdgeIsEdited: messages before it that are not loaded yet are not lost.
func TestAMessageAtTheEdgeIsEdited(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Good."))
	h.talk("long", 22)
	w := h.open("/#/s/long", desktop)
	w.edit("Message 2.")
	w.wait(`document.querySelectorAll('.run').length === 22`)
	w.send("!")
	w.wait(bubbles + ` === 'Message 0.,Message 1.,Message 2.!'`)
}

// TestAnswersInEveryLook: code with its colours, and a message that is being edited.
func TestAnswersInEveryLook(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.play(opus, faultlab.Answer(goCode+"\n```json\n{\"name\": \"tea\", \"cups\": [1, 2], \"hot\": true}\n```\n\n```python\n@cache\ndef cups(n: int) -> str:\n    return f\"{n} cups\"  # of tea\n```\n"))
	w := h.ask(false)
	w.wait(`CSS.highlights.get('code-0')?.size > 3 && document.querySelector('.run').dataset.status === 'completed'`)
	w.looks(source, "code")
	w.edit("Plan my week")
	w.looks(source, "editing")
}
