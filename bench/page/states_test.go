package page

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// ask opens a new conversation and asks something.
func (h *harness) ask(auto bool) *window {
	h.t.Helper()
	w := h.open("/", desktop)
	w.auto(auto)
	w.send("Plan my week")
	return w
}

func retryIn(d time.Duration) func(e hooks.RunError) recovery.Vote {
	return func(hooks.RunError) recovery.Vote {
		return recovery.Vote{Action: recovery.ActionRetry, Delay: failure.InMillis(d)}
	}
}

func switchNow(hooks.RunError) recovery.Vote {
	return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: gptFull}
}

const answer = "Monday is for the **report**."

func TestThinkingAndSlow(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Hang())
	w := h.ask(true)
	w.says(".line", "Thinking…")
	w.skip(5 * time.Second)
	w.matches(".line", `^Thinking… \d+ s$`)
	w.skip(13 * time.Second)
	w.matches(".line", `^Still waiting for Anthropic… 1\d s$`)
	w.skip(22 * time.Second)
	w.matches(".line", `^Still waiting for Anthropic… 2\d s · will retry in \d s$`)
	w.press("Stop")
	w.matches(".line", `^Stopped\.$`) // there is no text
}

// TestASlowCallIsCutShort: after 20 s without a token a person can have the call repeated, or
// another model asked, by click or by key, whether or not automatic recovery is on.
func TestASlowCallIsCutShort(t *testing.T) {
	other := answered("You chose: Switch to gpt-5.2")
	for name, c := range map[string]struct {
		auto bool
		do   func(w *window)
		then func(w *window)
	}{
		"retry":  {false, func(w *window) { w.press("Retry now") }, answered("You chose: Retry now")},
		"switch": {true, func(w *window) { w.press("Switch to gpt-5.2") }, other},
		"stop":   {true, func(w *window) { w.press("Stop") }, func(w *window) { w.says(".line", "Stopped.") }},
		"Alt+1":  {true, func(w *window) { w.key("1", alt) }, answered("You chose: Retry now")},
		"Alt+2":  {false, func(w *window) { w.key("2", alt) }, other},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t)
			h.play(opus, faultlab.Hang(), faultlab.Answer(answer))
			h.play(gpt, faultlab.Answer(answer))
			w := h.ask(c.auto)
			w.says(".line", "Thinking…")
			w.skip(13 * time.Second)
			w.says(".lineactions", "Stop")
			w.lacks(`.lineactions [data-kind="retry_now"]`)
			w.skip(21 * time.Second)
			w.matches(".lineactions", `^Retry now Switch to gpt-5.2 Stop$`)
			said := "Still waiting for Anthropic…"
			if c.auto {
				said += " · will retry"
			}
			w.wait(`[...document.querySelectorAll('.status [role="status"]')].some((e) => {
				const read = e.cloneNode(true);
				read.querySelectorAll('[aria-hidden]').forEach((hidden) => hidden.remove());
				return read.textContent.trim() === ` + quote(said) + `; })`)
			c.do(w)
			c.then(w)
			if eval[bool](w, `!!document.querySelector('.trouble')`) {
				t.Error("the page says", w.text(".trouble"))
			}
		})
	}
}

// TestTooLateToCutShort: whoever presses when the call has just ended is not shown an error about a
// missing suggestion.
func TestTooLateToCutShort(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Hang())
	w := h.ask(true)
	w.says(".line", "Thinking…")
	w.skip(20 * time.Second)
	eval[any](w, `(() => { const real = window.fetch; window.answers = 0; window.fetch = (url, options) => !String(url).endsWith('/recover') ? real(url, options) :
		Promise.resolve(new Response('{"status":410,"detail":"gone"}', {status: 410, headers: {'content-type': 'application/problem+json'}})).finally(() => window.answers++); })()`)
	w.press("Retry now")
	w.wait(`window.answers === 1`)
	w.press("Retry now") // it can be retried
	w.wait(`window.answers === 2`)
	w.press("Stop")
	w.says(".line", "Stopped.")
	if said := w.text(".trouble"); said != "" {
		t.Errorf("the page says %q", said)
	}
}

// TestSilenceWithoutALimit: if no timer ends a silent call, only stopping it is offered.
func TestSilenceWithoutALimit(t *testing.T) {
	h := build(t, policy(func(p *recovery.Policy) { p.Timeouts.FirstEvent, p.Timeouts.Idle = 0, 0 }))
	h.play(opus, faultlab.Hang())
	w := h.ask(true)
	w.says(".line", "Thinking…")
	w.skip(40 * time.Second)
	w.matches(".line", `^Still waiting for Anthropic… [45]\d s$`)
	w.matches(".lineactions", `^Stop$`)
}

func TestAToolTakesLong(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.ToolCall("run_tests", `{"all":true}`), faultlab.Answer(answer))
	w := h.ask(false)
	w.says(".tool", "run_tests")
	w.skip(42 * time.Second)
	w.matches(".line", `^Still working: run_tests, \d+ s$`)
	close(h.release)
	w.says(".prose", "Monday is for the report.")
	w.says(".tool", "done")
	w.says(".badge", "claude-opus-4-5 · Anthropic")
}

func TestRetrying(t *testing.T) {
	h := build(t, advise(retryIn(50*time.Second)))
	h.play(opus, faultlab.Overloaded(), faultlab.Hang())
	w := h.ask(true)
	w.matches(".line", `^Anthropic is overloaded. Retrying in \d+ s… \(attempt 1\/3\)$`)
	w.reload()
	w.says(".line", "Anthropic is overloaded. Retrying in") // a countdown survives a reload
	w.press("Retry now")
	w.says(".chosen", "You chose: Retry now")
	w.says(".line", "Anthropic is overloaded. Retrying… (attempt 1/3)")
}

func TestSwitching(t *testing.T) {
	h := build(t, advise(switchNow))
	h.play(opus, faultlab.Overloaded())
	h.play(gpt, faultlab.Hang())
	w := h.ask(true)
	w.says(".line", "Anthropic is overloaded. Switching to gpt-5.2…")
}

func TestRecovered(t *testing.T) {
	h := build(t, advise(func(e hooks.RunError) recovery.Vote {
		if e.Retries < 2 {
			return recovery.Vote{Action: recovery.ActionRetry}
		}
		return switchNow(e)
	}))
	h.play(opus, faultlab.CutAfter("Monday is"), faultlab.Overloaded(), faultlab.Overloaded())
	h.play(gpt, faultlab.Answer(answer))
	w := h.ask(true)
	w.says(".recovery", "Recovered after 2 retries · now using gpt-5.2")
	w.says(".badge", "gpt-5.2 · OpenAI")
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
	if got := w.text(".prose"); got != "Monday is for the report." { // I09
		t.Errorf("on the screen is %q", got)
	}
	w.press("Recovered after 2 retries · now using gpt-5.2")
	w.says(".attempts", "Anthropic is overloaded")
	w.says(".attempts", "MODEL_STREAM_INTERRUPTED")
	w.press("Timeline")
	w.says("dialog.timeline", "auto-recover says switch model to gpt-5.2")
	eval[any](w, `document.querySelector('dialog.timeline').close()`)
	const picked = `document.querySelector('.pick select').value`
	w.wait(picked + ` === "anthropic/claude-opus-4-5"`)
	w.says(".next", "Your next message goes to claude-opus-4-5 again.")
	w.press("Keep gpt-5.2")
	w.wait(picked + ` === "openai/gpt-5.2"`)
	w.press("Switch back")
	w.wait(picked + ` === "anthropic/claude-opus-4-5"`)
}

func TestWaitingForAReset(t *testing.T) {
	h := build(t, advise(retryIn(2*time.Hour)))
	h.play(opus, faultlab.RateLimited(2*time.Hour))
	h.play(gpt, faultlab.Answer(answer))
	w := h.ask(true)
	w.says(".line", "Waiting for Anthropic until")
	w.says(".line", "You can close this page.")
	w.press("Switch to gpt-5.2")
	w.says(".prose", "Monday is for the report.")
}

func TestOfflineWait(t *testing.T) {
	h := build(t)
	h.offline.Store(true)
	h.play(opus, faultlab.Answer(answer))
	w := h.ask(true)
	w.says(".line", "This computer is offline. The run continues when the connection is back.")
	w.press("Stop")
	w.matches(".line", `^Stopped\.$`)
}

func TestStoreWait(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.SlowAnswer(words(200), 20*time.Millisecond))
	w := h.ask(false)
	w.says(".prose", "word word")
	h.log.fill(true)
	w.says(".line", "The run waits for its store")
	h.log.fill(false)
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
	if got := w.text(".prose"); got != words(200) {
		t.Errorf("on the screen is %q", got)
	}
}

func TestFailed(t *testing.T) {
	h := build(t, advise(func(hooks.RunError) recovery.Vote { return recovery.Vote{Action: recovery.ActionFail} }))
	h.play(opus, faultlab.Unauthorized())
	w := h.ask(false)
	w.says(".card.failed", "Anthropic rejected the API key")
	w.says(".card.failed details[open]", "MODEL_PROVIDER_AUTH_FAILED")
	w.press("Copy details")
	w.says(".card.failed", "Copied")
}

func TestExpired(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Overloaded())
	w := h.ask(false)
	w.says(".card", "Anthropic is overloaded")
	w.skip(25 * time.Hour)
	w.says(".line", "This suggestion has expired. Send your message again.")
	w.lacks(".card")
}

func TestAMessageInterrupts(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.StallAfter("Monday is"), faultlab.Answer(answer))
	w := h.ask(false)
	w.says(".prose", "Monday is")
	w.send("Only Monday")
	w.says(".queue", "Only Monday")
	w.press("Interrupt")
	w.lacks(".queue")
	w.says(".note", "Stopped. The text above is kept.")
	w.says(".run:last-child .prose", "Monday is for the report.")
	w.send("Again")
	w.wait(`document.querySelectorAll('.run').length === 3`)
}

func TestEscStops(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.StallAfter("Monday is"))
	w := h.ask(false)
	w.says(".prose", "Monday is")
	w.key("Escape", 0)
	w.says(".line", "Stopped. The text above is kept.")
	w.says(".prose", "Monday is")
}
