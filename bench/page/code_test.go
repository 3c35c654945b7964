package page

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

const goCode = "Here it is:\n\n```go\n// Add adds <two> & more.\nfunc Add(a, b int) int {\n\treturn a + b + 42 // \"sum\"\n}\n```\n\nand\n\n```\nfunc plain() {}\n```\n\nand\n\n```klingon\nfunc alien() {}\n```\n"

// stretches are the pieces of code with the colour of a kind.
func (w *window) stretches(kind string) string {
	w.t.Helper()
	return eval[string](w, `[...(CSS.highlights.get('code-`+kind+`') ?? [])].map((r) => r.startContainer.data.slice(r.startOffset, r.endOffset)).join('|')`)
}

// TestCodeHasColours: code is coloured for the language that its author named, by a worker of the
// page; its text is unchanged.
func TestCodeHasColours(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer(goCode))
	w := h.ask(false)
	w.wait(`CSS.highlights.get('code-0')?.size > 0`)
	for kind, want := range map[string]string{"0": "func|return", "2": "// Add adds |<|two|>| |&| more.|// ", "3": "42", "4": "Add"} {
		if got := w.stretches(kind); !strings.HasPrefix(got, want) {
			t.Errorf("of kind %s is %q", kind, got)
		}
	}
	if n := eval[int](w, `document.querySelectorAll('.prose pre *:not(code)').length`); n != 0 {
		t.Errorf("%d elements were put into the code", n)
	}
	if all := w.stretches("0") + w.stretches("4"); strings.Contains(all, "plain") || strings.Contains(all, "alien") {
		t.Errorf("code of no language is coloured: %s", all)
	}
	eval[any](w, `location.hash = '#/newone'`)
	w.wait(`document.querySelector('.welcome') && [...CSS.highlights.values()].every((h) => h.size === 0)`) // nothing is kept for code that is gone
}

// TestCodeThatTakesTooLong: the page keeps responding, and the next code is coloured.
func TestCodeThatTakesTooLong(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	eval[any](w, `(() => { const real = Worker; let first = true; window.Worker = function (...args) {
		const w = new real(...args); if (first) { first = false; w.postMessage = () => {}; window.__ended = false; const end = w.terminate; w.terminate = () => { window.__ended = true; end.call(w); }; } return w; }; })()`)
	h.play(opus, faultlab.Answer("```go\nfunc one() {}\n```\n"), faultlab.Answer("```go\nfunc two() {}\n```\n"))
	w.send("one")
	w.says(".prose", "func one")
	w.wait(`window.__ended`)
	w.send("two")
	w.wait(`CSS.highlights.get('code-4')?.size > 0`)
	if got := w.stretches("4"); got != "two" {
		t.Errorf("coloured is %q", got)
	}
}
