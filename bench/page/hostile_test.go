package page

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/hostiletext"
)

// longestFrame keeps how long the page's thread was busy at a time, and __slow says how many
// times longer the same work takes now than it does at best: others may use this machine.
const longestFrame = `(() => {
	window.__busy = [];
	new PerformanceObserver((list) => { window.__busy.push(...list.getEntries().map((e) => Math.round(e.duration))); }).observe({ type: 'longtask' });
	const work = (n) => { const begin = performance.now(); let x = 0; for (let i = 0; i < n * 500000; i++) x = (x * 31 + i) % 1000003; return performance.now() - begin + x * 1e-12; };
	const best = Math.min(...Array.from({ length: 100 }, () => work(1)));
	window.__slow = () => Math.max(1, work(60) / best / 60);
})()`

const (
	frameLimit = 200 // milliseconds: twice what a frame may take, since what others take is guessed
	tries      = 3   // for one on which others work, too
)

// TestHostileText: whatever a model writes is drawn, in pieces, and the page goes on.
func TestHostileText(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	w.patience = 4 * patience
	eval[any](w, longestFrame)
	for i, s := range hostiletext.Shapes() {
		t.Run(s.Name, func(t *testing.T) {
			w.t = t
			defer func() { w.t = h.t }()
			best := math.Inf(1)
			for try := 0; try < tries && best > frameLimit; try++ {
				id := "end-" + strconv.Itoa(i) + "-" + strconv.Itoa(try)
				h.play(opus, faultlab.Answer(s.Text), faultlab.Answer("Here is the "+id+"."))
				eval[any](w, `location.hash = '#/new`+id+`'`)
				w.wait(`document.querySelector('.welcome')`)
				eval[any](w, `window.__busy = [], void 0`)
				w.send("Plan my week")
				w.wait(`document.querySelector('.run')?.dataset.status === 'completed' && !document.querySelector('[data-drawing]')`)
				best = min(best, eval[float64](w, `Math.max(0, ...window.__busy) / window.__slow()`))
			}
			if best > frameLimit {
				t.Errorf("%s: a frame took %.0f ms", s.Name, best)
			}
			w.send("Go on")
			w.wait(`document.querySelectorAll('.run').length === 2 && document.querySelector('.run:last-child .prose')?.innerText.startsWith('Here is the end-')`)
		})
	}
}

// TestHostileTextIsNotLost: what cannot be drawn as Markdown is there as it was written.
func TestHostileTextIsNotLost(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer(strings.Repeat("> ", 3_000)+"the end"))
	w := h.ask(false)
	w.says(".prose", "> > the end")
	w.reload()
	w.says(".prose", "> > the end")
	w.says(".bubble", "Plan my week")
}
