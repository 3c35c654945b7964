package page

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// truncated is an answer that ends at the model's token limit.
func truncated(text string) faultlab.Step {
	frame := func(kind, data string) string { return "event: " + kind + "\ndata: " + data + "\n\n" }
	return faultlab.Status(http.StatusOK, map[string]string{"Content-Type": "text/event-stream; charset=utf-8"},
		frame("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"`+opus+`","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1}}}`)+
			frame("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)+
			frame("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+text+`"}}`)+
			frame("content_block_stop", `{"type":"content_block_stop","index":0}`)+
			frame("message_delta", `{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":12}}`)+
			frame("message_stop", `{"type":"message_stop"}`))
}

// typing types into the message box.
func typing(text string) chromedp.Action[chromedp.Void] { return chromedp.SendKeys("#message", text) }

// goTo opens another conversation by its address.
func (w *window) goTo(path string) {
	w.t.Helper()
	eval[any](w, `location.hash = '#/`+path+`', void 0`)
	w.wait(`document.querySelector('mulligan-chat')?.conversation.loading === false`)
}

// connected cuts the window's connection, or restores it.
func (w *window) connected(yes bool) {
	w.t.Helper()
	call(w, network.Enable, network.EnableParams{})
	call(w, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{
		{URLPattern: "", Offline: !yes, DownloadThroughput: -1, UploadThroughput: -1},
	}})
	call(w, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: !yes, DownloadThroughput: -1, UploadThroughput: -1})
}

// TestADraftBelongsToItsConversation: text that was typed in one conversation is never sent in
// another, and survives a reload.
func TestADraftBelongsToItsConversation(t *testing.T) {
	h := build(t)
	w := h.open("/#/s/one", desktop)
	draft := func(text string) { w.wait(`document.querySelector('#message')?.value === ` + quote(text)) }
	w.reload()
	draft("")
	w.do(typing("for one"))
	w.goTo("s/two")
	draft("")
	w.do(typing("for two"))
	w.goTo("s/one")
	draft("for one")
	w.reload()
	draft("for one")
	w.goTo("s/two")
	draft("for two")
	w.press("New conversation")
	draft("")
	w.do(typing("for a new one"))
	w.reload()
	draft("for a new one")
	h.play(opus, faultlab.Answer(answer))
	w.key("Enter", 0)
	w.says(".bubble", "for a new one")
	draft("")
	w.press("New conversation")
	w.wait(`document.querySelector('.welcome')`)
	draft("")
}

// TestACutAnswerIsSaidToBeCut: row A38 of the catalogue.
func TestACutAnswerIsSaidToBeCut(t *testing.T) {
	h := build(t)
	h.play(opus, truncated("Monday is for the"))
	w := h.ask(false)
	w.says(".prose", "Monday is for the")
	w.says(".truncated", "Cut off here: the model reached its length limit.")
	w.reload()
	w.says(".truncated", "Cut off here")
}

// TestThePickerIsInTheOrderOfTheAPI: also if the default model is not the first.
func TestThePickerIsInTheOrderOfTheAPI(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	w.wait(picker + `?.options.length === 2`)
	eval[any](w, `(() => { const chat = document.querySelector('mulligan-chat'); chat.models = ['b/two', 'a/one', 'c/three'].map((name) => ({ name, provider: name, ready: true, default: name === 'a/one' })); })()`)
	w.wait(`[...` + picker + `.options].map((o) => o.value).join() === 'b/two,a/one,c/three'`)
	w.wait(picker + `.value === 'a/one'`)
}

// TestTheServerIsGone: nothing is said to be running or thinking, and the message about the server
// disappears when it is back.
func TestTheServerIsGone(t *testing.T) {
	h := build(t)
	h.plugins.all = h.plugins.all[:1]
	h.play(opus, faultlab.StallAfter("Monday is"))
	w := h.ask(false)
	w.says(".prose", "Monday is")
	w.says(".plugins", "1 plugin, healthy")
	w.connected(false)
	w.says(".banner", "Mulligan is not answering.")
	w.says(".reconnecting", "Reconnecting…")
	w.says(".plugins", "Not connected")
	w.lacks(".run .pulse, .plugins .good, .trouble")
	w.press("Stop")
	w.lacks(".trouble") // it was said already
	w.connected(true)
	w.lacks(".banner, .reconnecting, .trouble")
	w.says(".plugins", "1 plugin, healthy")
}

// TestTheSuggestedActionIsFirst: with who suggests it and why. Other models are behind one button,
// and Stop is last.
func TestTheSuggestedActionIsFirst(t *testing.T) {
	h := build(t, advise(func(e hooks.RunError) recovery.Vote {
		return recovery.Vote{Action: recovery.ActionRetry, Reason: "it may pass by itself"}
	}), policy(func(p *recovery.Policy) { p.Models = []string{opusFull, gptFull, "openai/gpt-5.2-mini", "openai/o5"} }))
	h.play(opus, faultlab.Overloaded(), faultlab.Answer(answer))
	w := h.ask(false)
	w.says(".why", "auto-recover suggests Retry: it may pass by itself")
	w.wait(`[...document.querySelectorAll('.card .buttons > *')].map((b) => (b.querySelector('summary') ?? b).firstElementChild.innerText).join() === 'Retry,Switch model,Stop'`)
	w.wait(`document.querySelector('.card .buttons > :first-child').matches('.primary[aria-keyshortcuts="Alt+1"]')`)
	w.press("Switch model")
	w.wait(`[...document.querySelectorAll('.card .choices button')].filter((b) => b.checkVisibility()).length === 3`)
	w.key("1", alt)
	answered("You chose: Retry")(w)
}

// TestAnUnsafeToolShowsItsArguments: without them nobody can say whether to run it again.
func TestAnUnsafeToolShowsItsArguments(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.ToolCall("send_email", `{"to":"ada@example.org"}`))
	w := h.ask(false)
	w.says(".card", "send_email may or may not have worked")
	w.says(".card .called", `"to": "ada@example.org"`)
}

// TestAPluginsOwnButtonLeadsSomewhere: it opens in a new tab.
func TestAPluginsOwnButtonLeadsSomewhere(t *testing.T) {
	h := build(t, advise(func(hooks.RunError) recovery.Vote {
		return recovery.Vote{Action: recovery.ActionFail, Reason: "it is being repaired", Actions: []recovery.Button{{Label: "Status page", URL: "https://status.example.com/"}}}
	}))
	h.play(opus, faultlab.Overloaded())
	w := h.ask(false)
	w.says(".card .buttons", "Status page")
	w.wait(`document.querySelector('.card .buttons a').matches('[href="https://status.example.com/"][target=_blank][rel~=noopener]')`)
}

// TestOneTitle: the list and the conversation's heading have the same title, its first message.
func TestOneTitle(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer(answer), faultlab.Answer(answer))
	w := h.ask(false)
	w.says(".prose", "Monday")
	w.send("And then?")
	w.wait(`document.querySelectorAll('.run .badge').length === 2`)
	w.says(".list .title", "Plan my week")
	w.says(".top h1", "Plan my week")
	w.lacks(".list li:nth-child(2)")
}

// TestAStoppedCardIsNotAFailure: in the list, too.
func TestAStoppedCardIsNotAFailure(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Overloaded())
	w := h.ask(false)
	w.says(".list .meta", "needs you")
	w.press("Stop")
	w.matches(".line", `^Stopped\.$`)
	w.matches(".list .meta", `^now$`)
}

// TestTasksAndColumns: task lists and tables are rendered.
func TestTasksAndColumns(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("- [x] done\n- [ ] open\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n7. seven"))
	w := h.ask(false)
	w.wait(`document.querySelectorAll('.prose li.task').length === 2`)
	w.says(".prose li.task", "☑ done")
	w.says(".prose li.task", "☐ open")
	w.wait(`document.querySelector('.prose ol')?.start === 7`)
	w.wait(`[...document.querySelectorAll('.prose td')].map((c) => getComputedStyle(c).textAlign).join() === 'center,end'`)
}

// TestEnterOnAPhoneMakesALine: on a phone a button sends the message.
func TestEnterOnAPhoneMakesALine(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer(answer))
	w := h.open("/", look{width: 390, height: 780, scale: 2, reduced: true})
	call(w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "hover", Value: "none"}, {Name: "pointer", Value: "coarse"},
	}})
	touch := eval[bool](w, `matchMedia('(hover: none) and (pointer: coarse)').matches`)
	if !touch {
		call(w, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	}
	w.reload()
	w.wait(`matchMedia('(hover: none) and (pointer: coarse)').matches && document.querySelector('#message')`)
	w.do(typing("one\rtwo"))
	w.wait(`document.querySelector('#message').value === 'one\ntwo'`)
	w.press("Send")
	w.says(".prose", "Monday")
}

// TestAFinishedAnswerIsSaidOnce: a screen reader is told the whole answer once, and nothing while
// it streams.
func TestAFinishedAnswerIsSaidOnce(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.SlowAnswer(words(30), 20*time.Millisecond))
	w := h.open("/", desktop)
	eval[any](w, `window.__said = []; new MutationObserver(() => { const text = document.querySelector('.announced').textContent; if (text) __said.push(text); })
		.observe(document.querySelector('.announced'), { childList: true, characterData: true, subtree: true }); void 0`)
	w.send("Plan my week")
	w.wait(`window.__said.length === 1 && window.__said[0] === ` + quote(words(30)))
	w.reload()
	w.says(".prose", "word")
	w.wait(`document.querySelector('.announced').textContent === ''`) // it is not new
}

// TestNoKey: before anything is sent the page says what to do about it.
func TestNoKey(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	w.says(".welcome", "What are you working on?")
	eval[any](w, `(() => { const chat = document.querySelector('mulligan-chat'); chat.models = chat.models.map((m) => ({ ...m, ready: false })); })()`)
	w.says(".nokey", "ANTHROPIC_API_KEY=… mulligan serve")
	eval[any](w, `(() => { const chat = document.querySelector('mulligan-chat'); chat.models = []; chat.modelless = true; })()`)
	w.says(".nokey", "OPENAI_API_KEY")
}

// TestOneBrokenMessageIsOneBrokenMessage: a message that cannot be rendered affects no other.
func TestOneBrokenMessageIsOneBrokenMessage(t *testing.T) {
	h := build(t)
	deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	h.play(opus, faultlab.ToolCall("get_weather", `{"city":`+deep+`}`), faultlab.Answer(answer))
	w := h.ask(false)
	w.says(".bubble", "Plan my week")
	w.wait(`document.querySelector('.run')?.dataset.status !== 'running'`)
}
