package page

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

const formulas = `The roots are $x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$, or \(x_1\) and \(x_2\):

$$
\sum_{i=1}^{n} i = \frac{n(n+1)}{2}
$$

\[ \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \]

It costs $5 and $10, or $7 a month; a shell has $HOME and $PATH. Wrong is $\nosuchthing{$, and ` + "`$x$` is code.\n\n```sh\necho $A $B$\n```\n"

// TestFormulasAreDrawn: a worker of the page turns them into MathML. Amounts of money and code are
// not formulas, and what cannot be drawn is shown as it was written.
func TestFormulasAreDrawn(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.play(opus, faultlab.Answer(formulas))
	w := h.ask(false)
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed' && document.querySelectorAll('.prose math').length === 5`)
	w.wait(`document.querySelector('.prose math mfrac msqrt') && document.querySelector('.prose math munderover') && document.querySelectorAll('.prose math mtd').length === 4`)
	said := w.text(".prose")
	for _, text := range []string{"It costs $5 and $10, or $7 a month; a shell has $HOME and $PATH.", `Wrong is $\nosuchthing{$, and $x$ is code.`, "echo $A $B$"} {
		if !strings.Contains(said, text) {
			t.Errorf("%q is not in %q", text, said)
		}
	}
	if n := eval[int](w, `document.querySelectorAll('.prose math [style], .prose math [class], .prose math [href]').length`); n != 0 {
		t.Errorf("%d elements of formulas have a style, a class or a link", n)
	}
	w.looks(source, "formulas")
}

// TestFormulasReachNothing: the links, images and styles that TeX has load nothing.
func TestFormulasReachNothing(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer(strings.Join([]string{
		`$\href{javascript:hit()}{x}$`, `$\includegraphics{http://example.org/x.png}$`, `$\style{background:url(//example.org/x)}{x}$`, `$\text{<img src=x onerror=hit()>}$`,
		`$\class{side}{x}$`, `$\def\a{\a\a}\a$`, "$y$", "The end.",
	}, "\n\n")))
	w := h.open("/", desktop)
	eval[any](w, `window.hits = 0; window.hit = () => { window.hits++; }; void 0`)
	w.send("Plan my week")
	w.says(".prose", "The end.")
	w.wait(`[...document.querySelectorAll('.prose math')].some((m) => m.textContent === 'y')`) // the last one
	for _, js := range []string{
		`window.hits`, `document.querySelectorAll('.prose img, .prose a, .prose math [href], .prose math [style], .prose math [class]').length`,
		`performance.getEntriesByType('resource').filter((r) => new URL(r.name).origin !== location.origin).length`,
	} {
		if n := eval[int](w, js); n != 0 {
			t.Errorf("%s is %d", js, n)
		}
	}
}
