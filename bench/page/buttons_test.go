package page

import (
	"net/http"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

func refusal(code int, kind, message string) faultlab.Step {
	return faultlab.Status(code, nil, `{"type":"error","error":{"type":"`+kind+`","message":"`+message+`"}}`)
}

var tooLong = refusal(http.StatusBadRequest, "invalid_request_error", "prompt is too long: 214000 tokens > 200000 maximum")

// reading is a tool call that makes a conversation longer.
var reading = faultlab.ToolCall("read_log", "{}")

func shorten(hooks.RunError) recovery.Vote {
	return recovery.Vote{Action: recovery.ActionRetry, Adjust: recovery.Adjust{Compact: true}}
}

// TestEveryKindOfButton presses each kind of button, and checks its effect.
func TestEveryKindOfButton(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    string
		options []option
		steps   []faultlab.Step
		title   string
		press   string
		then    func(w *window)
	}{
		{
			name: "retry", kind: recovery.ButtonRetry, steps: []faultlab.Step{faultlab.Overloaded(), faultlab.Answer(answer)},
			title: "Anthropic is overloaded", press: "Retry", then: answered("You chose: Retry"),
		},
		{
			name: "switch", kind: recovery.ButtonSwitchModel, steps: []faultlab.Step{faultlab.Overloaded()},
			title: "Anthropic is overloaded", press: "Switch to gpt-5.2", then: answered("You chose: Switch to gpt-5.2"),
		},
		{
			name: "stop", kind: recovery.ButtonStop, steps: []faultlab.Step{faultlab.CutAfter("Monday is")},
			title: "The answer was cut off", press: "Stop", then: func(w *window) {
				w.says(".line", "Stopped. The text above is kept.")
				w.says(".prose", "Monday is")
			},
		},
		{
			name: "resume", kind: recovery.ButtonResumeAt, options: []option{advise(retryIn(2 * time.Hour))},
			steps: []faultlab.Step{faultlab.RateLimited(2 * time.Hour)}, title: "Anthropic asked to slow down",
			then: func(w *window) {
				w.says(".line", "Waiting for Anthropic until")
				w.press("Cancel")
				w.says(".line", "Stopped.")
			},
		},
		{
			name: "wait longer", kind: recovery.ButtonWaitLonger, options: []option{policy(func(p *recovery.Policy) { p.Timeouts.FirstEvent = 300 })},
			steps: []faultlab.Step{faultlab.Hang(), faultlab.Answer(answer)}, title: "Anthropic is not answering", press: "Wait 300 ms more",
			then: answered("You chose: Wait 300 ms more"),
		},
		{
			name: "extend", kind: recovery.ButtonExtend, options: []option{policy(func(p *recovery.Policy) { p.Timeouts.MaxTurn = 1000 })},
			steps: []faultlab.Step{faultlab.Hang(), faultlab.Answer(answer)}, title: "This turn reached its limit", press: "Continue for 1 s more",
			then: answered("You chose: Continue for 1 s more"),
		},
		{
			name: "tell the agent", kind: recovery.ButtonTellAgent, steps: []faultlab.Step{faultlab.ToolCall("send_email", "{}"), faultlab.Answer(answer)},
			title: "send_email may or may not have worked", press: "Let the agent adapt", then: answered("You chose: Let the agent adapt"),
		},
		{
			name: "run the tool again", kind: recovery.ButtonRerunTool, steps: []faultlab.Step{faultlab.ToolCall("send_email", "{}"), faultlab.Answer(answer)},
			title: "send_email may or may not have worked", press: "Run send_email again",
			then: answered("You chose: Run send_email again"),
		},
		{
			name: "shorten", kind: recovery.ButtonCompact, options: []option{advise(shorten)},
			steps: []faultlab.Step{reading, reading, reading, tooLong, faultlab.Answer(answer)},
			title: "This conversation is too long for", press: "Shorten and retry", then: answered("You chose: Shorten and retry"),
		},
		{
			name: "a larger model", kind: recovery.ButtonLarger, options: []option{advise(shorten)},
			steps: []faultlab.Step{reading, reading, reading, tooLong},
			title: "This conversation is too long for", press: "Switch to gpt-5.2", then: answered("You chose: Switch to gpt-5.2"),
		},
		{
			name: "edit", kind: recovery.ButtonEdit, options: []option{advise(switchNow)}, steps: []faultlab.Step{refusal(http.StatusBadRequest, "invalid_request_error", "Output blocked by content filtering policy")},
			title: "Anthropic blocked this request", press: "Edit message", then: func(w *window) {
				w.wait(`document.querySelector('#message').value === 'Plan my week' && document.activeElement.id === 'message'`)
			},
		},
		{
			name: "key", kind: recovery.ButtonFixKey, steps: []faultlab.Step{faultlab.Unauthorized(), faultlab.Answer(answer)},
			title: "Anthropic rejected the API key", press: "Update key", then: func(w *window) {
				w.says(".help", "start it again with the key: ANTHROPIC_API_KEY=… mulligan serve. Then choose Retry")
				w.press("Retry")
				answered("You chose: Retry")(w)
			},
		},
		{
			name: "credit", kind: recovery.ButtonAddCredit, steps: []faultlab.Step{refusal(http.StatusPaymentRequired, "billing_error", "Your credit balance is too low")},
			title: "Your Anthropic account has no credit left", press: "Add credit", then: func(w *window) { w.says(".help", "Add credit in your account") },
		},
		{
			name: "choose a model", kind: recovery.ButtonChooseModel, steps: []faultlab.Step{refusal(http.StatusNotFound, "not_found_error", "model: "+opus)},
			title: "is not available", press: "Choose a model", then: func(w *window) {
				w.wait(`document.querySelector('.help select')`)
				eval[any](w, `(() => { const s = document.querySelector('.help select'); s.value = 'openai/gpt-5.2'; s.dispatchEvent(new Event('change')); })()`)
				answered("You chose: Switch to gpt-5.2")(w)
			},
		},
		{
			name: "copy", kind: recovery.ButtonCopyDetails, options: []option{advise(switchNow)},
			steps: []faultlab.Step{refusal(http.StatusBadRequest, "invalid_request_error", "tools.0: no such field")},
			title: "Anthropic did not accept the request", press: "Copy details", then: func(w *window) { w.says(".card .buttons", "Copied") },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := build(t, c.options...)
			h.play(opus, c.steps...)
			h.play(gpt, faultlab.Answer(answer))
			w := h.ask(false)
			w.says(".card", c.title)
			w.wait(`document.querySelectorAll('.card').length === 1 && document.querySelector('.card [data-kind="` + c.kind + `"]')`)
			if c.press == "" {
				eval[any](w, `document.querySelector('.card [data-kind="`+c.kind+`"]').click()`)
			} else {
				w.press(c.press)
			}
			c.then(w)
		})
	}
}

// answered waits for the answer, and until nothing is asked any more.
func answered(chosen string) func(w *window) {
	return func(w *window) {
		w.t.Helper()
		w.says(".chosen", chosen)
		w.says(".prose", "Monday is for the report.")
		w.lacks(".card")
	}
}

func TestShortcuts(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Overloaded(), faultlab.Answer(answer))
	w := h.ask(false)
	w.says(".card", "Alt 2")
	w.key("1", alt) // while the message box has the focus
	answered("You chose: Retry")(w)
	w.wait(`document.activeElement.id === 'message'`)
}
