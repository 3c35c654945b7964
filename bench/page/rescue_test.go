package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/hostiletext"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// settle begins a run and waits until it needs a person or has ended.
func (h *harness) settle(prompt string, auto bool) string {
	h.t.Helper()
	id, err := (runs{h.runner, h.t.Context()}).Start(h.t.Context(), gateway.Start{Prompt: prompt, Model: opusFull, Fallbacks: []string{gptFull}, AutoRecover: &auto})
	if err != nil {
		h.t.Fatal(err)
	}
	for item, err := range h.log.Follow(h.t.Context(), id, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		if e := item.Event; e != nil && (e.Type() == "suggested" || e.Type() == "ended") {
			break
		}
	}
	return id
}

// rescuedRun is a run with a tool, a truncated answer, two more failures and a model switch.
func rescuedRun(t *testing.T) (h *harness, id string) {
	t.Helper()
	h = build(t, advise(twice))
	h.play(opus, faultlab.ToolCalls("Let me look at the weather.", faultlab.Call{Name: "get_weather", Args: `{"city":"Oslo"}`}), faultlab.CutAfter("Here is"), faultlab.Overloaded(), faultlab.Overloaded())
	h.play(gpt, faultlab.Answer(week))
	return h, h.settle("Plan my week", true)
}

// retrospect opens a run's page.
func (h *harness) retrospect(id string, l look) *window {
	h.t.Helper()
	w := h.open("/runs/"+id, l)
	w.wait(`document.querySelector('.rescue h1') && !document.querySelector('.rescue h1.sr')`)
	return w
}

func TestARunInRetrospect(t *testing.T) {
	h, id := rescuedRun(t)
	w := h.enter(desktop, "")
	w.wait(`document.querySelector('.row .name a').getAttribute('href') === '/runs/` + id + `'`)
	w.do(chromedp.Navigate(h.url + "/runs/" + id))
	w.matches(".rescue h1", `^Rescued in .*: 2 retries, 1 switch, 0 tools repeated, [\d,]+ tokens kept$`)
	w.wait(`document.title.startsWith('Rescued in') && document.querySelectorAll('.lane.is-attempt').length === 5 && document.querySelectorAll('.lane.is-attempt.is-failed').length === 3`)

	// Everything can be done with the keyboard: go to a row, open it, zoom in, and go back.
	w.key("j", 0)
	w.wait(`document.activeElement.dataset.at === '0'`)
	w.key("ArrowDown", 0)
	w.key("ArrowDown", 0)
	w.wait(`document.activeElement.dataset.at === '2' && document.activeElement.getAttribute('aria-expanded') === 'false'`)
	eval[any](w, `document.activeElement.click()`)
	w.says(".inside", "The answer was cut off")
	w.says(".inside", "says retry")
	w.says(".inside", "Retry in 300 ms, by auto-recover: it may pass by itself.")
	w.says(".inside", "3 messages")
	w.says(".inside", "headers that it was sent with")
	eval[any](w, `document.querySelectorAll('.inside .body').forEach((d) => { d.open = true; })`)
	w.says(".inside .headers", "X-Api-Key")
	w.says(".inside .headers", "hidden")
	w.key("+", 0)
	w.wait(`!document.querySelector('[aria-label="Zoom out"]').disabled`)
	w.key("0", 0)
	w.wait(`document.querySelector('[aria-label="Zoom out"]').disabled`)

	// The scrubber shows the run as it began.
	eval[any](w, `(() => { const r = document.querySelector('.scrub input'); r.value = '0'; r.dispatchEvent(new Event('input', { bubbles: true })); })()`)
	w.wait(`document.querySelectorAll('.lane[data-later]').length >= 4`)
	w.press("Play")
	w.wait(`document.querySelectorAll('.lane[data-later]').length === 0`)
}

// TestWhatIsShared: the shared file depends on nothing else, shows the same, and contains texts
// only on request.
func TestWhatIsShared(t *testing.T) {
	h, id := rescuedRun(t)
	w := h.retrospect(id, desktop)
	folder := t.TempDir()
	eval[any](w, `(() => { window.__saved = {}; let blob; const make = URL.createObjectURL; URL.createObjectURL = (b) => { blob = b; return make(b); };
		HTMLAnchorElement.prototype.click = function () { void blob.text().then((text) => { window.__saved[this.download] = text; }); }; })()`)
	w.press("Share")
	w.press("Save as data (JSON)")
	w.press("Save as a page (HTML)")
	w.wait(`window.__saved['` + id + `.json'] && window.__saved['` + id + `.html']`)
	for _, as := range []string{"json", "html"} {
		saved := eval[string](w, `window.__saved['`+id+`.`+as+`']`)
		if strings.Contains(saved, "Friday") || strings.Contains(saved, "Plan my week") || !strings.Contains(saved, "Rescued in") {
			t.Errorf("%s: %d bytes with texts, or without a headline", as, len(saved))
		}
		if err := os.WriteFile(filepath.Join(folder, "run."+as), []byte(saved), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	headline := strings.ReplaceAll(w.text(".rescue h1"), "\u00a0", " ")
	w.do(chromedp.Navigate("file://" + filepath.Join(folder, "run.html")))
	w.says(".rescue h1", headline)
	w.wait(`document.querySelectorAll('.lane.is-attempt').length === 5 && !document.querySelector('nav')`)
	eval[any](w, `document.querySelector('.lane.is-failed .bar').click()`)
	w.says(".inside", "Retry in 300 ms, by auto-recover.")
}

// TestARunAsAPicture: the saved file is a PNG of the run that is not empty.
func TestARunAsAPicture(t *testing.T) {
	h, id := rescuedRun(t)
	w := h.retrospect(id, desktop)
	eval[any](w, `(() => { let blob; const make = URL.createObjectURL; URL.createObjectURL = (b) => { blob = b; return make(b); };
		HTMLAnchorElement.prototype.click = function () { const r = new FileReader(); r.onload = () => { window.__saved = [this.download, r.result]; }; r.readAsDataURL(blob); }; })()`)
	w.press("Share")
	w.press("Save as a picture (PNG, no texts)")
	w.wait(`window.__saved`)
	saved := eval[[]string](w, `window.__saved`)
	content, ok := strings.CutPrefix(saved[1], "data:image/png;base64,")
	data, err := base64.StdEncoding.DecodeString(content)
	if !ok || err != nil || saved[0] != id+".png" {
		t.Fatalf("%s, %v", saved[0], err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[color.Color]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			colours[color.RGBAModel.Convert(img.At(x, y))]++
		}
	}
	good, bad := color.RGBA{0x18, 0x79, 0x4e, 0xff}, color.RGBA{0xb3, 0x26, 0x1e, 0xff}
	if b := img.Bounds(); b.Dx() != 2240 || b.Dy() < 600 || colours[good] < 100 || colours[bad] < 100 {
		t.Errorf("%v: %d pixels of what went well, %d of what failed", b, colours[good], colours[bad])
	}
	if *screenshots {
		if err := os.WriteFile(filepath.Join(pictures, "all", "picture.png"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatIfInScreenshots: other settings are simulated on the recorded run, and the page says
// which failures would have been handled differently; the run itself does not change.
func TestWhatIfInScreenshots(t *testing.T) {
	h, id := rescuedRun(t)
	w := h.retrospect(id, desktop)
	choose := func(label, value string) {
		t.Helper()
		eval[any](w, `(() => { const c = [...document.querySelectorAll('.whatif label')].find((l) => l.innerText.startsWith(`+quote(label)+`)).querySelector('select, input');
			c.value = `+quote(value)+`; c.dispatchEvent(new Event('change', { bubbles: true })); })()`)
	}
	choose("it recovered", "off")
	w.says(".whatif", "All 3 failures would have gone otherwise")
	w.says(".whatif li", "Only offered: it asks first.")
	choose("it recovered", "")
	w.lacks(".whatif li")
	choose("retries of a call", "0")
	w.says(".whatif", "2 of 3 failures would have gone otherwise")
	choose("the vote that counts", "auto-recover")
	w.says(".whatif", "2 of 3 failures")
	source := axe(t)
	eval[any](w, `document.querySelector('.whatif').scrollIntoView()`)
	w.looks(source, "whatif")
	if run, err := h.runner.Inspect(t.Context(), id); err != nil || run.Status != recovery.StatusCompleted {
		t.Errorf("%+v, %v", run, err)
	}
}

// TestARunThatGoesOn: its page is updated while the run continues, and shows how it ended.
func TestARunThatGoesOn(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.ToolCalls("I run the tests first.", faultlab.Call{Name: "run_tests"}), faultlab.Answer("All is well."))
	id, err := (runs{h.runner, t.Context()}).Start(t.Context(), gateway.Start{Prompt: "Test it"})
	if err != nil {
		t.Fatal(err)
	}
	w := h.retrospect(id, desktop)
	w.says(".rescue h1", "Running: nothing has failed so far")
	w.says(".lane.is-tool.is-open", "run_tests")
	close(h.release)
	w.matches(".rescue h1", `^Completed in .*: nothing failed$`)
	w.says(".answer", "All is well.")
	w.lacks(".is-open")
}

// TestOtherRunsInRetrospect: a missing run, one that waits for a person, one with 500 attempts, and
// one with hostile text.
func TestOtherRunsInRetrospect(t *testing.T) {
	h := build(t)
	w := h.retrospect("r0nosuchrun", desktop)
	w.says("main", "There is no such run")

	h.play(opus, faultlab.Overloaded())
	w = h.retrospect(h.settle("Plan my week", false), desktop)
	w.says(".rescue h1", "Waits for you. Anthropic is overloaded")
	w.says(".lane.is-person.is-open", "You")

	w = h.retrospect(h.manyAttempts("r-many", 500, "Plan my week"), desktop)
	w.matches(".rescue h1", `^Rescued in .*: 500 retries`)
	w.wait(`document.querySelectorAll('.lane').length === 501`)

	var hostile strings.Builder
	for _, s := range hostiletext.Shapes() {
		hostile.WriteString(s.Text[:min(len(s.Text), 2000)])
	}
	text := `<img src=x onerror=alert(1)></script><b>` + strings.ToValidUTF8(hostile.String(), "")
	w = h.retrospect(h.manyAttempts("r-hostile", 2, text), look{width: 390, height: 780, scale: 1, reduced: true})
	w.wait(`document.querySelectorAll('.lane').length === 3 && !document.querySelector('main img, main b')`)
	eval[any](w, `[...document.querySelectorAll('.bar')].forEach((b) => b.click())`)
	w.says(".inside", "onerror")
	if wide := eval[int](w, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("it is %d px wide", wide)
	}
}

// manyAttempts writes a run that failed so many times, and was answered then.
func (h *harness) manyAttempts(id string, n int, text string) string {
	h.t.Helper()
	log, err := h.log.Claim(h.t.Context(), id, "test", time.Hour)
	if err != nil {
		h.t.Fatal(err)
	}
	f := *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider, f.Model, f.HTTPStatus, f.Detail = "anthropic", opusFull, 529, text
	f.Describe(failure.Words{})
	policy := recovery.DefaultPolicy()
	policy.AutoRecover = true
	bodies := []recovery.Body{recovery.Started{Model: opusFull, Input: []llm.Message{llm.User(text)}, Policy: policy}, recovery.Claimed{Owner: "test", Epoch: log.Epoch}}
	for i := range n {
		bodies = append(bodies, recovery.Began{Attempt: uint64(i + 1), Round: 1, Try: i, Model: opusFull, Retry: i > 0}, recovery.Failed{Attempt: uint64(i + 1), Text: text, Failure: f})
	}
	bodies = append(bodies, recovery.Began{Attempt: uint64(n + 1), Round: 1, Try: n, Model: opusFull, Retry: true},
		recovery.Answered{Attempt: uint64(n + 1), Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: text}}, Model: opusFull}, Stop: llm.StopEnd},
		recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"})
	h.write(log, id, bodies)
	return id
}

func (h *harness) write(lease timeline.Lease, id string, bodies []recovery.Body) {
	h.t.Helper()
	at := time.Now().Add(-time.Duration(len(bodies)) * time.Second)
	var events []recovery.Event
	for i, b := range bodies {
		events = append(events, recovery.Event{Run: id, Seq: uint64(i + 1), Time: at.Add(time.Duration(i) * time.Second), Body: b})
	}
	if err := h.log.Append(h.t.Context(), lease, 0, events...); err != nil {
		h.t.Fatal(fmt.Errorf("%s: %w", id, err))
	}
}

// TestWhatWasOverAtOnce: an interval that began and ended with the run took no time, and is not
// drawn across it.
func TestWhatWasOverAtOnce(t *testing.T) {
	h := build(t)
	lease, err := h.log.Claim(t.Context(), "r-at-once", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	f := *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	at := time.Now().Add(-time.Minute)
	var events []recovery.Event
	for _, b := range []struct {
		after time.Duration
		body  recovery.Body
	}{
		{0, recovery.Started{Model: opusFull, Input: []llm.Message{llm.User("Plan my week")}}},
		{0, recovery.Claimed{Owner: "test", Epoch: lease.Epoch}},
		{0, recovery.Began{Attempt: 1, Round: 1, Model: opusFull}},
		{0, recovery.Failed{Attempt: 1, Failure: f}},
		{time.Second, recovery.Began{Attempt: 2, Round: 1, Try: 1, Model: opusFull, Retry: true}},
		{3 * time.Second, recovery.Answered{Attempt: 2, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "Done."}}, Model: opusFull}, Stop: llm.StopEnd}},
		{3 * time.Second, recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"}},
	} {
		events = append(events, recovery.Event{Run: lease.Run, Seq: uint64(len(events) + 1), Time: at.Add(b.after), Body: b.body})
	}
	if err := h.log.Append(t.Context(), lease, 0, events...); err != nil {
		t.Fatal(err)
	}
	w := h.retrospect(lease.Run, desktop)
	w.wait(`[...document.querySelectorAll('.lane .long')].map((l) => l.textContent).join() === '0 ms,2 s'`)
}

// TestARunInRetrospectInScreenshots runs axe-core on every look, and takes screenshots.
func TestARunInRetrospectInScreenshots(t *testing.T) {
	source := axe(t)
	h := build(t, advise(twice))
	h.play(opus, faultlab.ToolCalls("Let me look at the weather.", faultlab.Call{Name: "get_weather", Args: `{"city":"Oslo"}`}), faultlab.CutAfter("Here is a plan that leaves Friday"), faultlab.Overloaded(), faultlab.Overloaded())
	h.play(gpt, faultlab.SlowAnswer(week, 6*time.Millisecond))
	id := h.settle("Plan my week so that Friday afternoon is free", true)
	w := h.retrospect(id, desktop)
	for _, opened := range []bool{false, true} {
		name := "rescue"
		if opened {
			name = "rescue-open"
			eval[any](w, `document.querySelector('.lane.is-attempt.is-failed .bar').click()`)
			w.says(".inside", "What was decided")
		}
		w.looks(source, name)
	}
	eval[any](w, `document.querySelectorAll('.body:has(.headers)').forEach((d) => { d.querySelector('summary').click(); })`)
	w.says(".headers", "hidden")
	eval[any](w, `document.querySelector('.headers').closest('section').scrollIntoView()`)
	w.looks(source, "rescue-headers")
}

// TestTheTriesBesideAnAnswer: a recovered answer has a strip of its attempts, which opens the run's
// page.
func TestTheTriesBesideAnAnswer(t *testing.T) {
	h := build(t, advise(twice))
	h.play(opus, faultlab.Overloaded(), faultlab.Unavailable(), faultlab.Overloaded())
	h.play(gpt, faultlab.Answer("Here."))
	w := h.open("/", desktop)
	w.auto(true)
	w.send("Plan my week")
	w.wait(`document.querySelector('a.tries')?.ariaLabel.startsWith('3 attempts failed') && document.querySelectorAll('.tries .bad').length === 3`)
	if *screenshots {
		w.be(looks["light"])
		w.shoot("tries-light")
	}
	eval[any](w, `document.querySelector('a.tries').click()`)
	w.matches(".rescue h1", `^Rescued in .*: 2 retries, 1 switch`)
}
