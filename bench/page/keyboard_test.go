package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// focused is the accessible name of the focused element.
const focused = `(() => { const e = document.activeElement;
	return (e.ariaLabel || e.labels?.[0]?.innerText || e.querySelector('.what')?.innerText || e.innerText || e.placeholder || e.title || '').replace(/\s+/g, ' ').trim(); })()`

// focusSeen reports whether the focus is visible: the element is in the window, and it or an
// element around it has an outline, or the text box has its border.
const focusSeen = `(() => { const e = document.activeElement; if (e === document.body) return true;
	const r = e.getBoundingClientRect(); if (r.bottom < 1 || r.top > innerHeight - 1 || r.right < 1 || r.left > innerWidth - 1) return false;
	for (let at = e; at && at !== document.body; at = at.parentElement) {
		const s = getComputedStyle(at);
		if (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) return true;
		if (at.matches('.box') && at.matches(':focus-within')) return true; }
	return false; })()`

// tab presses Tab until the focused element's name begins with name. Each element on the way must
// have a name and a visible focus.
func (w *window) tab(name string) {
	w.t.Helper()
	var stops []string
	for range 80 {
		w.strike(kb.Tab)
		got := eval[string](w, focused)
		if strings.HasPrefix(got, name) {
			w.seen(got)
			return
		}
		if body := eval[bool](w, `document.activeElement === document.body`); !body {
			w.seen(w.named())
		}
		stops = append(stops, got)
	}
	w.t.Fatalf("the tabulator does not come to %q, only to %q", name, stops)
}

func (w *window) seen(name string) {
	w.t.Helper()
	if !eval[bool](w, focusSeen) {
		w.t.Errorf("nobody sees that the focus is at %q: %.200s", name, eval[string](w, `document.activeElement.outerHTML`))
	}
}

// TestNoKeyboardTrap: the tabulator goes through each page and comes out again, and each stop has a name and is seen.
func TestNoKeyboardTrap(t *testing.T) {
	h, id := rescuedRun(t)
	h.keep()
	h.advice = nil
	h.begin("Plan my week", recovery.StatusFailed, faultlab.Overloaded())
	pages := map[string]func() *window{
		"chat": func() *window {
			approvalAsked(h)
			w := h.open("/", desktop)
			w.send("Pay the bill")
			w.says(".card", "waits for your approval")
			return w
		},
		"runs": func() *window {
			w := h.enter(desktop, "")
			w.says(".cause", "overloaded")
			eval[any](w, `document.querySelectorAll('.plugins details').forEach((d) => { d.open = true; })`)
			return w
		},
		"run": func() *window {
			w := h.retrospect(id, desktop)
			eval[any](w, `document.querySelectorAll('.bar').forEach((b) => b.click())`)
			return w
		},
	}
	for name, open := range pages {
		w := open() // the whole test is skipped where no browser is wanted
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.once() // to the end, from wherever the focus was
			if stops := w.once(); stops < 10 {
				t.Errorf("the tabulator comes out after %d stops", stops)
			}
		})
	}
}

// once presses the tabulator until it leaves the page, and says how many stops there were.
func (w *window) once() (stops int) {
	w.t.Helper()
	for ; stops < 150; stops++ {
		w.strike(kb.Tab)
		if eval[bool](w, `document.activeElement === document.body`) {
			return stops
		}
		w.seen(w.named())
	}
	w.t.Fatalf("the tabulator does not leave the page: it is at %q", eval[string](w, focused))
	return stops
}

// named is the name of what has the focus, which it must have.
func (w *window) named() string {
	w.t.Helper()
	name := eval[string](w, focused)
	if name == "" {
		w.t.Errorf("a stop has no name: %.200s", eval[string](w, `document.activeElement.outerHTML`))
	}
	return name
}

// TestSignInByTheKeyboard: after pasting a link and pressing Enter one can write at once.
func TestSignInByTheKeyboard(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.play(opus, faultlab.Answer("Here I am."))
	w := h.visit("/", desktop)
	w.says(".signin", "Run this on the computer that Mulligan runs on")
	w.looks(source, "signin")
	w.be(desktop)
	w.tab("Or paste the link here")
	w.strike(h.url + h.link())
	w.strike(kb.Enter)
	w.wait(`document.activeElement.id === 'message'`)
	w.strike("Plan my week")
	w.strike(kb.Enter)
	w.says(".prose", "Here I am.")
}

// TestSetupByTheKeyboard: a key is chosen, pasted, tested and removed.
func TestSetupByTheKeyboard(t *testing.T) {
	p := &keyStore{ring: true}
	w := build(t, keyless(p)).openKeyless()
	w.wait(`document.querySelector('.nokey input[type=radio]:checked')`)
	w.says(".nokey", "in the keyring of your system")
	w.tab("Anthropic")
	w.strike(kb.ArrowRight)
	w.wait(focused + ` === 'OpenAI'`)
	w.tab("OpenAI API key")
	w.strike(canaryKey)
	w.strike(kb.Enter)
	w.says(".nokey", "answered in 0.8 s.")
	w.tab("API keys")
	w.strike(kb.Enter)
	w.wait(`document.querySelector('dialog.keys').open && document.querySelector('dialog.keys input[type=radio]:checked')`)
	w.tab("OpenAI")
	w.tab("Remove…")
	w.strike(kb.Enter)
	w.tab("Remove the key from this computer")
	w.strike(kb.Enter)
	w.wait(`!document.querySelector('dialog.keys').innerText.includes('A key is kept')`)
	w.strike(kb.Escape)
	w.wait(`!document.querySelector('dialog.keys').open`)
	w.wait(focused + ` === 'API keys'`)
}

// TestChatByTheKeyboard: a suggestion is answered, the attempts and the timeline are opened, an
// answer is copied and regenerated, a message is edited, and a conversation is found, renamed and
// deleted.
func TestChatByTheKeyboard(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Overloaded(), faultlab.Answer("Monday is for the report."), faultlab.Answer("Tuesday, rather."), faultlab.Answer("Next week then."))
	w := h.open("/", desktop)
	w.wait(`document.activeElement.id === 'message'`)
	w.strike("Plan my week")
	w.strike(kb.Enter)
	w.says(".card", "overloaded")
	w.tab("Retry")
	w.strike(kb.Enter)
	w.says(".prose", "Monday is for the report.")
	w.wait(`document.querySelector('.run').dataset.status === 'completed'`)
	w.tab("Timeline")
	w.strike(kb.Enter)
	w.says("dialog.timeline", "Done.")
	w.strike(kb.Escape)
	w.wait(`!document.querySelector('dialog.timeline')?.open`)
	w.wait(focused + `.startsWith('Timeline')`)
	w.tab("Regenerate")
	w.strike(kb.Enter)
	w.says(".prose", "Tuesday, rather.")
	w.wait(`document.querySelector('.run').dataset.status === 'completed'`)
	w.tab("Edit")
	w.strike(kb.Enter)
	w.wait(`document.activeElement.matches('textarea')`)
	w.strike(" after that")
	w.strike(kb.Enter)
	w.says(".prose", "Next week then.")
	w.tab("Search conversations")
	w.strike("nothing like it")
	w.says("mulligan-conversations", "Nothing was said about “nothing like it”.")
	w.strike(kb.Escape)
	w.wait(`document.querySelectorAll('.talk').length === 2`)
	w.tab("More about")
	w.strike(kb.Enter)
	w.wait(focused + ` === 'Rename'`)
	w.strike(kb.Enter)
	w.wait(`document.activeElement.matches('.rename input')`)
	w.strike("The week")
	w.strike(kb.Enter)
	w.says(".talk .title", "The week")
	w.tab("More about “The week”")
	w.strike(kb.Enter)
	w.wait(focused + ` === 'Rename'`)
	w.strike(kb.ArrowDown)
	w.wait(focused + ` === 'Delete…'`)
	w.strike(kb.Enter)
	w.wait(`document.querySelector('dialog.confirm').open`)
	w.tab("Delete")
	w.strike(kb.Enter)
	w.wait(`document.querySelectorAll('.talk').length === 1 && !document.querySelector('.talk').innerText.includes('The week')`)
}

// TestTheTableByTheKeyboard: the runs are searched, filtered by state, by time and by a word in a
// row, and one is opened.
func TestTheTableByTheKeyboard(t *testing.T) {
	h := controlRoom(t)
	w := h.enter(desktop, "")
	w.wait(rows + `.length === 4`)
	w.tab("Search titles and failures")
	w.strike("week")
	w.wait(rows + `.join() === 'Plan my week' && location.search === '?text=week'`)
	w.strike(kb.Escape)
	w.wait(rows + `.length === 4`)
	w.tab("Needs you")
	w.strike(kb.Enter)
	w.wait(rows + `.length === 3 && location.search === '?needsYou=true'`)
	w.tab("When")
	w.strike(kb.ArrowDown)
	w.wait(rows + `.length === 3 && location.search.includes('since=1h')`)
	w.tab("Summarise the inbox")
	w.strike(kb.ArrowDown)
	w.wait(focused + ` === 'Draft the quarterly report'`)
	for range 20 {
		if strings.Contains(eval[string](w, focused), "overloaded") {
			break
		}
		w.strike(kb.ArrowRight)
	}
	w.seen("a word of a row")
	w.strike(kb.Enter)
	w.wait(rows + `.length === 2 && location.search.includes('kind=overloaded')`)
	w.wait(focused + ` === 'Remove the filter overloaded'`)
	w.strike(kb.Enter)
	w.wait(rows + `.length === 3`)
	w.wait(focused + ` === 'Needs you'`)
	w.key("j", 0)
	w.wait(`document.activeElement.dataset.at === '0'`)
	w.strike(kb.Enter)
	w.wait(`location.pathname.startsWith('/runs/') && document.querySelector('.rescue h1')`)
}

// TestTheFocusStaysAtItsRow: whoever is at a run stays at it while newer ones come above it, or another call of
// the same conversation.
func TestTheFocusStaysAtItsRow(t *testing.T) {
	h := controlRoom(t)
	w := h.enter(desktop, "")
	w.wait(rows + `.length === 4`)
	w.key("j", 0)
	w.strike(kb.ArrowDown)
	w.wait(focused + ` === 'Draft the quarterly report'`)
	h.begin("One that is newer", recovery.StatusCompleted, faultlab.Answer("Here."))
	w.wait(rows + `.length === 5`)
	w.wait(focused + ` === 'Draft the quarterly report'`)
	w.strike(kb.ArrowDown)
	w.wait(focused + ` === 'Plan my week'`)

	proxied := func(prompt string) {
		h.play(opus, faultlab.Answer("Here."))
		run, err := h.runner.Start(t.Context(), runner.Request{Prompt: prompt, Model: opusFull, Labels: recovery.CallLabels(recovery.KindProxied, "agent-7")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	proxied("a first call")
	w.wait(rows + `[0] === 'a first call'`)
	for range 4 {
		w.strike(kb.ArrowUp)
	}
	w.wait(focused + ` === 'a first call'`)
	proxied("a second call")
	w.wait(focused + ` === 'a second call'`)
}

// TestWhatIsClosedGivesTheFocusBack: a preview and a question are left by Escape, a result keeps the focus when
// its cause is gone, and the last one gives it to the runs.
func TestWhatIsClosedGivesTheFocusBack(t *testing.T) {
	h := controlRoom(t)
	w := h.enter(desktop, "?status=completed")
	w.wait(`document.querySelectorAll('.cause').length === 2`)
	w.tab("Retry all")
	w.strike(kb.Enter)
	w.wait(focused + ` === 'Retry: 2 runs'`)
	w.strike(kb.Escape)
	w.lacks(".bulk")
	w.wait(focused + ` === 'Retry all'`)
	for left := 1; left >= 0; left-- {
		w.tab("Stop")
		w.strike(kb.Enter)
		w.wait(focused + `.startsWith('Stop: ')`)
		w.strike(kb.Enter)
		w.says(".bulk", "answered")
		w.wait(fmt.Sprintf(`document.querySelectorAll('.cause').length === %d`, left))
		w.wait(focused + ` === 'Close'`)
		w.strike(kb.Escape)
		w.lacks(".bulk")
	}
	w.wait(focused + ` === 'What is a mulligan?'`)

	w.tab("auto-recover")
	w.strike(kb.Enter)
	w.tab("Disable…")
	w.strike(kb.Enter)
	w.says(".sure", "has no vote")
	w.strike(kb.Escape)
	w.lacks(".sure")
	w.wait(focused + ` === 'Disable…'`)
	w.strike(kb.Enter)
	w.tab("Keep it")
	w.strike(kb.Enter)
	w.lacks(".sure")
	w.wait(focused + ` === 'Disable…'`)
}

// TestARunByTheKeyboard: a failure is opened, enlarged, moved through in time, tried with other
// settings, and shared.
func TestARunByTheKeyboard(t *testing.T) {
	h, id := rescuedRun(t)
	w := h.retrospect(id, desktop)
	eval[any](w, `(() => { window.__saved = []; HTMLAnchorElement.prototype.click = function () { window.__saved.push(this.download); }; })()`)
	w.tab("Up to when it is told")
	w.strike(kb.ArrowLeft)
	w.wait(`document.querySelector('.scrub input').value === '999'`)
	w.strike(kb.Home)
	w.wait(`document.querySelectorAll('.lane[data-later]').length >= 4`)
	w.strike(kb.End)
	w.tab("Zoom in")
	w.strike(kb.Enter)
	w.wait(`!document.querySelector('[aria-label="Zoom out"]').disabled`)
	w.key("0", 0)
	w.tab("Share")
	w.strike(kb.Enter)
	w.tab("Save as data (JSON)")
	w.strike(kb.Enter)
	w.wait(`window.__saved.join() === '` + id + `.json'`)
	w.strike(kb.Escape)
	w.wait(`!document.querySelector('details.share').open`)
	w.wait(focused + ` === 'Share'`)
	w.key("j", 0)
	w.strike(kb.ArrowDown)
	w.strike(kb.ArrowDown)
	w.wait(`document.activeElement.dataset.at === '2'`)
	w.seen("a row")
	w.strike(kb.Enter)
	w.says(".inside", "The answer was cut off")
	w.tab("it recovered")
	w.strike(kb.ArrowDown)
	w.strike(kb.ArrowDown)
	w.says(".whatif", "All 3 failures would have gone otherwise")
}
