package page

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/timeline"
)

// more opens the menu of the conversation with a title.
func (w *window) more(title string) {
	w.t.Helper()
	button := `[...document.querySelectorAll('.rowmore')].find((b) => b.getAttribute('aria-label') === ` + quote(`More about “`+title+`”`) + `)`
	w.wait(button)
	eval[any](w, button+`.click()`)
	w.wait(`document.activeElement?.innerText === 'Rename'`) // the focus is in the menu, for the keyboard
}

const listed = `[...document.querySelectorAll('.list .title')].map((e) => e.innerText).join()`

// TestAConversationIsRenamed: in its row, by keyboard, and for every client.
func TestAConversationIsRenamed(t *testing.T) {
	h := build(t)
	h.history()
	w := h.open("/#/s/before-Wri", desktop)
	w.more("Write the release notes")
	w.key("ArrowDown", 0)
	w.wait(`document.activeElement?.innerText === 'Delete…'`)
	w.key("ArrowDown", 0)
	w.wait(`document.activeElement?.innerText === 'Rename'`)
	w.key("Escape", 0)
	w.lacks(".rowmenu")
	w.wait(`document.activeElement?.matches('.rowmore')`)
	w.more("Write the release notes")
	w.press("Rename")
	w.wait(`document.activeElement?.matches('.rename input') && getSelection().toString() === 'Write the release notes'`)
	w.do(chromedp.SendKeys(".rename input", "Notes of “1.0”"))
	w.key("Escape", 0)
	w.lacks(".rename")
	w.more("Write the release notes")
	w.press("Rename")
	w.wait(`document.activeElement?.matches('.rename input')`)
	w.do(chromedp.SendKeys(".rename input", "Notes of “1.0”\r"))
	w.says(".top h1", "Notes of “1.0”")
	w.wait(`document.activeElement?.matches('.rowmore')`)
	if kept, err := h.log.Session(t.Context(), "before-Wri"); err != nil || kept.Title != "Notes of “1.0”" {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	w.more("Notes of “1.0”")
	w.press("Rename")
	eval[any](w, `(() => { const i = document.querySelector('.rename input'); i.value = ''; i.blur(); })()`)
	w.says(".top h1", "Write the release notes") // its former title
}

// TestAConversationIsDeleted: after a confirmation, but not while it has an active run, which the
// page says.
func TestAConversationIsDeleted(t *testing.T) {
	h := build(t)
	h.history()
	h.play(opus, faultlab.Overloaded())
	w := h.ask(false)
	w.says(".card", "overloaded")
	w.more("Plan my week")
	w.press("Delete…")
	w.says("dialog.confirm", "Plan my week is deleted for good")
	w.wait(`document.activeElement?.innerText === 'Cancel'`)
	w.press("Delete")
	w.says("dialog.confirm .refused", "it asks you something")
	w.press("Cancel")
	w.lacks("dialog.confirm[open]")
	w.wait(`document.activeElement?.getAttribute('aria-label') === 'More about “Plan my week”'`)
	w.press("Stop")
	w.lacks(".card")
	session := eval[string](w, `document.querySelector('mulligan-chat').conversation.session`)
	w.more("Plan my week")
	w.press("Delete…")
	w.wait(`(document.querySelector('dialog.confirm .dire').click(), !document.querySelector('dialog.confirm[open]'))`) // its run may still be about to be released
	w.wait(listed + ` === 'Why is the importer slow?,Write the release notes,Which tests are flaky?'`)
	w.wait(`document.querySelector('.welcome') && location.hash.startsWith('#/new')`)
	if runs, err := h.log.List(t.Context(), timeline.Query{Session: session}); err != nil || len(runs) != 0 {
		t.Errorf("left are %+v, %v", runs, err)
	}
	w.do(chromedp.Navigate(h.url + "/#/s/" + session)) // as another window would
	w.wait(`document.querySelector('.welcome')`)
}

// TestConversationsAreFound: by title, and by what was said later in them.
func TestConversationsAreFound(t *testing.T) {
	h := build(t)
	h.history()
	h.play(opus, faultlab.Answer("Good."), faultlab.Answer("Better."))
	w := h.ask(false)
	w.says(".prose", "Good.")
	w.send("And the holidays in Norway?")
	w.says(".prose", "Better.")
	for _, c := range []struct{ words, want string }{
		{"IMPORTER", "Why is the importer slow?"}, {"we", "Plan my week"}, {"norway", "Plan my week"}, {"nightingale", ""},
	} {
		eval[any](w, fmt.Sprintf(`(() => { const i = document.querySelector('#find'); i.value = %q; i.dispatchEvent(new Event('input')); })()`, c.words))
		w.wait(listed + ` === ` + quote(c.want))
	}
	w.says(".list .nothing", "Nothing was said about “nightingale”.")
	eval[any](w, `document.querySelector('#find').focus()`)
	w.key("Escape", 0)
	w.wait(`document.querySelectorAll('.list .title').length === 4`)
	w.more("Plan my week")
}

// TestTheListInEveryLook: the menu, renaming, the confirmation, and search results.
func TestTheListInEveryLook(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.history()
	for name, arrive := range map[string]func(w *window){
		"list-menu": func(w *window) { w.more("Why is the importer slow?") },
		"list-rename": func(w *window) {
			w.more("Why is the importer slow?")
			w.press("Rename")
			w.wait(`document.querySelector('.rename')`)
		},
		"list-delete": func(w *window) {
			w.more("Why is the importer slow?")
			w.press("Delete…")
			w.says("dialog.confirm", "for good")
		},
		"list-found": func(w *window) {
			eval[any](w, `(() => { const i = document.querySelector('#find'); i.value = 'tests'; i.dispatchEvent(new Event('input')); })()`)
			w.wait(listed + ` === 'Which tests are flaky?'`)
		},
	} {
		w := h.open("/#/s/before-Why", desktop)
		w.says(".prose", "Done.")
		before := look{width: 1280, height: 820, scale: 1, reduced: true}
		for suffix, l := range map[string]look{
			"light": before, "dark": {width: 1280, height: 820, scale: 1, dark: true, reduced: true},
			"phone": {width: 390, height: 780, scale: 2, reduced: true}, "phone-dark": {width: 390, height: 780, scale: 2, dark: true, reduced: true},
		} {
			w.reload()
			w.be(l)
			w.says(".prose", "Done.")
			if l.width < 760 {
				eval[any](w, `document.querySelector('.menu').click()`)
				w.wait(`document.querySelector('.side.open')`)
			}
			arrive(w)
			w.audit(source)
			if wide := eval[int](w, `document.documentElement.scrollWidth`); int64(wide) > l.width {
				t.Errorf("%s, %s: it is %d px wide", name, suffix, wide)
			}
			if *screenshots {
				w.shoot(name + "-" + suffix)
			}
		}
	}
}
