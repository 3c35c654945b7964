package page

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

var screenshots = flag.Bool("screenshots", false, "write a picture of every state into docs/screenshots")

const pictures = "../../docs/screenshots"

// looks are the looks in which every state is pictured.
var looks = map[string]look{
	"light":      {width: 1280, height: 868, scale: 1.75, reduced: true},
	"dark":       {width: 1280, height: 868, scale: 1.75, dark: true, reduced: true},
	"phone":      {width: 390, height: 780, scale: 2, reduced: true},
	"phone-dark": {width: 390, height: 780, scale: 2, dark: true, reduced: true},
}

// kept are the pictures that are committed; the others are in all/, which is ignored by git.
var kept = map[string]bool{
	"suggestion-light": true, "suggestion-dark": true, "suggestion-phone": true, "retrying-light": true, "retrying-phone": true,
	"runs-light": true, "runs-dark": true, "runs-phone": true, "room-light": true, "room-dark": true, "room-phone": true, "whatif-light": true,
	"rescue-light": true, "rescue-dark": true, "rescue-phone": true, "rescue-open-light": true, "rescue-open-phone": true,
	"play-light": true, "play-recovered-light": true, "play-recovered-dark": true, "play-recovered-phone": true, "play-phone": true,
	"slow-light": true, "slow-phone": true,
	"recovered-light": true, "recovered-dark": true, "timeline-light": true, "timeline-dark": true, "waiting-light": true,
	"failed-light": true, "approval-light": true, "approval-phone": true, "tool-unknown-phone": true, "usage-limit-dark": true,
	"signin-light": true, "signin-phone-dark": true, "setup-light": true, "setup-refused-phone": true, "keys-dark": true,
	"code-dark": true, "formulas-light": true, "reasoning-light": true, "editing-phone": true, "pictures-phone-dark": true,
	"queue-light": true, "list-menu-light": true, "list-found-dark": true, "list-delete-phone": true,
}

// scene is a state that is pictured.
type scene struct {
	name    string
	auto    bool
	options []option
	play    func(h *harness)
	arrive  func(w *window)
}

const week = `Here is a plan that leaves **Friday afternoon** free.

| Day | Morning | Afternoon |
|---|---|---|
| Monday | Report, first draft | Review with Ada |
| Tuesday | Tests for the importer | Interviews |
| Wednesday | Report, final | – |

- The report needs about three hours; start it before the review.
- Move the interviews if the importer takes longer.

Run ` + "`calendar sync --week 32`" + ` when you are happy with it.`

func twice(e hooks.RunError) recovery.Vote {
	if e.Retries < 2 {
		return recovery.Vote{Action: recovery.ActionRetry, Delay: 300, Reason: "it may pass by itself"}
	}
	return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: gptFull, Reason: "two retries did not help"}
}

var scenes = []scene{
	{name: "thinking", play: func(h *harness) { h.play(opus, faultlab.Hang()) }, arrive: func(w *window) { w.skip(5 * time.Second); w.matches(".line", `^Thinking… \d+ s$`) }},
	{name: "slow", auto: true, play: func(h *harness) { h.play(opus, faultlab.Hang()) }, arrive: func(w *window) {
		w.skip(20 * time.Second)
		w.says(".line", "will retry")
	}},
	{name: "tool-slow", play: func(h *harness) {
		h.play(opus, faultlab.ToolCalls("I run the tests first.", faultlab.Call{Name: "run_tests"}))
	}, arrive: func(w *window) {
		w.says(".tool", "run_tests")
		w.skip(42 * time.Second)
		w.says(".line", "Still working")
	}},
	{name: "retrying", auto: true, options: []option{advise(retryIn(5 * time.Second))}, play: func(h *harness) { h.play(opus, faultlab.Overloaded()) }, arrive: func(w *window) {
		w.says(".line", "Retrying in")
	}},
	{name: "waiting", auto: true, options: []option{advise(retryIn(2 * time.Hour))}, play: func(h *harness) { h.play(opus, faultlab.RateLimited(2*time.Hour)) }, arrive: func(w *window) {
		w.says(".line", "You can close this page.")
	}},
	{name: "switching", auto: true, options: []option{advise(switchNow)}, play: func(h *harness) {
		h.play(opus, faultlab.Overloaded())
		h.play(gpt, faultlab.Hang())
	}, arrive: func(w *window) { w.says(".line", "Switching") }},
	{name: "offline", auto: true, play: func(h *harness) { h.offline.Store(true) }, arrive: func(w *window) { w.says(".line", "offline") }},
	{name: "suggestion", play: func(h *harness) { h.play(opus, faultlab.Overloaded()) }, arrive: func(w *window) { w.says(".card", "overloaded") }},
	{
		name: "cut-off", play: func(h *harness) {
			h.play(opus, faultlab.CutAfter("Here is a plan that leaves **Friday afternoon** free.\n\n- Monday: the report"))
		},
		arrive: func(w *window) { w.says(".card", "cut off") },
	},
	{name: "usage-limit", play: func(h *harness) { h.play(opus, faultlab.RateLimited(130*time.Minute)) }, arrive: func(w *window) { w.says(".card", "slow down") }},
	{name: "key", play: func(h *harness) { h.play(opus, faultlab.Unauthorized()) }, arrive: func(w *window) {
		w.says(".card", "rejected")
		w.press("Update key")
	}},
	{
		name: "tool-unknown", play: func(h *harness) {
			h.play(opus, faultlab.ToolCalls("I send it now.", faultlab.Call{Name: "send_email", Args: `{"to":"ada@example.org"}`}))
		},
		arrive: func(w *window) { w.says(".card", "may or may not") },
	},
	{name: "recovered", auto: true, options: []option{advise(twice)}, play: func(h *harness) {
		h.play(opus, faultlab.ToolCalls("Let me look at the weather.", faultlab.Call{Name: "get_weather", Args: `{"city":"Oslo"}`}), faultlab.CutAfter("Here is"), faultlab.Overloaded(), faultlab.Overloaded())
		h.play(gpt, faultlab.Answer(week))
	}, arrive: func(w *window) { w.says(".badge", "gpt-5.2") }},
	{name: "recovered-open", auto: true, options: []option{advise(twice)}, play: func(h *harness) {
		h.play(opus, faultlab.CutAfter("Here is"), faultlab.Unavailable(), faultlab.Overloaded())
		h.play(gpt, faultlab.Answer("Monday is for the report."))
	}, arrive: func(w *window) {
		w.says(".badge", "gpt-5.2")
		w.press("Recovered after 2 retries · now using gpt-5.2")
	}},
	{name: "timeline", auto: true, options: []option{advise(twice)}, play: func(h *harness) {
		h.play(opus, faultlab.ToolCalls("Let me look at the weather.", faultlab.Call{Name: "get_weather", Args: `{"city":"Oslo"}`}), faultlab.CutAfter("Here is"), faultlab.Overloaded(), faultlab.Overloaded())
		h.play(gpt, faultlab.SlowAnswer(week, 8*time.Millisecond))
	}, arrive: func(w *window) {
		w.says(".badge", "gpt-5.2")
		w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
		w.press("Timeline")
		w.says("dialog.timeline", "Done.")
	}},
	{
		name: "failed", options: []option{advise(func(hooks.RunError) recovery.Vote { return recovery.Vote{Action: recovery.ActionFail} })}, play: func(h *harness) { h.play(opus, faultlab.HTML502()) },
		arrive: func(w *window) { w.says(".card.failed", "having problems") },
	},
	{name: "stopped", play: func(h *harness) { h.play(opus, faultlab.StallAfter("Here is a plan that leaves Friday")) }, arrive: func(w *window) {
		w.says(".prose", "Friday")
		w.press("Stop")
		w.says(".line", "Stopped.")
	}},
	{name: "conversations", play: func(h *harness) { h.play(opus, faultlab.Answer(week)) }, arrive: func(w *window) {
		w.says(".badge", "claude")
		w.be(looks["phone"])
		eval[any](w, `document.querySelector('.menu').click()`)
	}},
	{name: "expired", play: func(h *harness) { h.play(opus, faultlab.Overloaded()) }, arrive: func(w *window) {
		w.says(".card", "overloaded")
		w.skip(25 * time.Hour)
		w.says(".line", "expired")
	}},
}

// TestScreenshots takes a screenshot of every state, on request.
func TestScreenshots(t *testing.T) {
	if !*screenshots {
		t.Skip("only with -screenshots: make screenshots")
	}
	for _, dir := range []string{pictures, filepath.Join(pictures, "all")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			h := build(t, s.options...)
			h.plugins.all = h.plugins.all[:1] // a healthy one
			h.history()
			s.play(h)
			w := h.open("/", looks["light"])
			w.auto(s.auto)
			w.send("Plan my week")
			s.arrive(w)
			for name, l := range looks {
				w.be(l)
				time.Sleep(300 * time.Millisecond) // the list is polled, and things are drawn
				w.shoot(s.name + "-" + name)
			}
		})
	}
}

// history is earlier conversations.
func (h *harness) history() {
	h.t.Helper()
	h.play(opus, faultlab.Answer("Done."))
	for _, title := range []string{"Which tests are flaky?", "Write the release notes", "Why is the importer slow?"} {
		id, err := (runs{h.runner, h.t.Context()}).Start(h.t.Context(), gateway.Start{Prompt: title, Session: "before-" + title[:3]})
		if err != nil {
			h.t.Fatal(err)
		}
		run, err := h.runner.Resume(h.t.Context(), id)
		if err == nil {
			_, err = run.Wait(context.Background())
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

// shoot writes a picture.
func (w *window) shoot(name string) {
	w.t.Helper()
	eval[any](w, `document.activeElement?.blur()`)
	shot := call(w, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	img, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, reduced(img)); err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(pictures, "all", name+".png")
	if kept[name] {
		path = filepath.Join(pictures, name+".png")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// reduced is a picture with at most 256 colours: the most frequent ones that are not too similar to
// one another. All other colours become the nearest of them.
func reduced(img image.Image) image.Image {
	bounds := img.Bounds()
	rgba := image.NewRGBA(bounds)
	draw.Draw(rgba, bounds, img, bounds.Min, draw.Src)
	counts := map[color.RGBA]int{}
	for i := 0; i < len(rgba.Pix); i += 4 {
		counts[color.RGBA{rgba.Pix[i], rgba.Pix[i+1], rgba.Pix[i+2], 255}]++
	}
	palette := mostSeen(counts)
	out := image.NewPaletted(bounds, palette)
	index := map[color.RGBA]uint8{}
	for i := 0; i < len(rgba.Pix); i += 4 {
		c := color.RGBA{rgba.Pix[i], rgba.Pix[i+1], rgba.Pix[i+2], 255}
		at, ok := index[c]
		if !ok {
			at = uint8(palette.Index(c)) //nolint:gosec // a palette has 256 colours
			index[c] = at
		}
		out.Pix[i/4] = at
	}
	return out
}

func mostSeen(counts map[color.RGBA]int) color.Palette {
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return counts[b] - counts[a] })
	var palette color.Palette
	var chosen []color.RGBA
	for _, c := range colors {
		alike := func(o color.RGBA) bool { return far(c.R, o.R)+far(c.G, o.G)+far(c.B, o.B) < 9 }
		if len(palette) < 256 && !slices.ContainsFunc(chosen, alike) {
			palette, chosen = append(palette, c), append(chosen, c)
		}
	}
	return palette
}

func far(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
