package page

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/hostiletext"
)

// yardstick is the best time for a fixed piece of work in the page, in milliseconds.
const yardstick = `(() => {
	const work = () => { const begin = performance.now(); let x = 0; for (let i = 0; i < 2000000; i++) x = (x * 31 + i) % 1000003; return performance.now() - begin + x * 1e-12; };
	return Math.min(...Array.from({ length: 40 }, work));
})()`

const (
	frameLimit = 100 * time.Millisecond // of the page's thread, on a machine with the usual yardstick
	usual      = 15.0                   // milliseconds for the yardstick
	tries      = 3                      // the browser may collect garbage at any time
)

// slowness is how many times slower than usual the machine is now: others have a share in it that
// changes from minute to minute.
func (w *window) slowness() float64 { return max(1, eval[float64](w, yardstick)/usual) }

// TestHostileText: whatever a model writes is rendered in pieces, and the page keeps responding.
// The time that counts is the computing time of the page's thread, so other processes do not
// matter.
func TestHostileText(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	w.timeout = 4 * timeout
	for i, s := range hostiletext.Shapes() {
		t.Run(s.Name, func(t *testing.T) {
			w.t = t
			defer func() { w.t = h.t }()
			best := time.Hour
			for try := 0; try < tries && best > frameLimit; try++ {
				id := "end-" + strconv.Itoa(i) + "-" + strconv.Itoa(try)
				h.play(opus, faultlab.Answer(s.Text), faultlab.Answer("Here is the "+id+"."))
				eval[any](w, `location.hash = '#/new`+id+`'`)
				w.wait(`document.querySelector('.welcome')`)
				task := w.longestTask(func() {
					w.send("Plan my week")
					w.wait(`document.querySelector('.run')?.dataset.status === 'completed' && !document.querySelector('[data-drawing]')`)
				})
				if task > frameLimit {
					task = time.Duration(float64(task) / w.slowness())
				}
				best = min(best, task)
			}
			if best > frameLimit {
				t.Errorf("on a usual machine the page would have computed for %s at a time; at most %s", best, frameLimit)
			}
			w.send("Go on")
			w.wait(`document.querySelectorAll('.run').length === 2 && document.querySelector('.run:last-child .prose')?.innerText.startsWith('Here is the end-')`)
		})
	}
}

// TestHostileTextIsNotLost: text that cannot be rendered as Markdown is shown as it was written.
func TestHostileTextIsNotLost(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer(strings.Repeat("> ", 3_000)+"the end"))
	w := h.ask(false)
	w.says(".prose", "> > the end")
	w.reload()
	w.says(".prose", "> > the end")
	w.says(".bubble", "Plan my week")
}
