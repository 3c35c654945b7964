package page

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/faultlab"
)

// TestFirstPaint measures when each page first shows something, as the median of several loads
// without a cache; -v prints it.
func TestFirstPaint(t *testing.T) {
	const loads = 7
	h := build(t)
	h.play(opus, faultlab.Answer(answer))
	id := h.settle("What is a mulligan?", true)
	w := h.open("/", desktop)
	call(w, network.Enable, network.EnableParams{})
	call(w, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	for _, path := range []string{"/", "/runs", "/runs/" + id} {
		var times []float64
		for range loads {
			w.do(chromedp.Navigate(h.url+"/icon.svg"), chromedp.Navigate(h.url+path))
			const painted = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`
			w.wait(painted + ` > 0`)
			times = append(times, eval[float64](w, painted))
		}
		slices.Sort(times)
		t.Logf("%s: first contentful paint after %.0f ms (%.0f to %.0f)", path, times[loads/2], times[0], times[loads-1])
	}
}
