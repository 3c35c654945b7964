package page

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/faultlab"
)

func TestTwoWindows(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Overloaded(), faultlab.SlowAnswer(words(40), 10*time.Millisecond))
	one := h.ask(false)
	one.says(".card", "overloaded")
	two := h.open("/"+eval[string](one, "location.hash"), desktop)
	two.says(".card", "overloaded")
	two.press("Retry")
	one.says(".chosen", "You chose: Retry")
	one.lacks(".card")
	for _, w := range []*window{one, two} {
		w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
		if got := w.text(".prose"); got != words(40) {
			t.Errorf("on the screen is %q", got)
		}
	}
	two.send("And then?")
	one.wait(`document.querySelectorAll('.run').length === 2`) // the other window shows what was sent here
}

// TestAWindowEndsNothingUnseen: a message that would close a suggestion of another window is kept
// until that was seen.
func TestAWindowEndsNothingUnseen(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Here it is."), faultlab.Overloaded(), faultlab.Answer("Here is more."))
	one := h.ask(false)
	one.says(".prose", "Here it is.")
	two := h.open("/"+eval[string](one, "location.hash"), desktop)
	two.says(".prose", "Here it is.")
	eval[any](two, `{ const get = fetch; fetch = (url, ...rest) => String(url).includes('/v1/sessions?') ? new Promise(() => {}) : get(url, ...rest) }`) // it does not look by itself
	one.send("And then?")
	one.says(".card", "overloaded")
	two.send("Something else")
	two.says(".trouble", "Not sent yet: this was asked elsewhere meanwhile, and waits for a choice.")
	two.says(".bubble", "And then?")
	two.says(".card", "overloaded")
	two.wait(`document.querySelector('#message').value === 'Something else'`)
	if n := eval[int](one, `document.querySelectorAll('.run').length`); n != 2 {
		t.Errorf("there are %d runs", n)
	}
	two.key("Enter", 0)
	two.says(".prose", "Here is more.")
	two.lacks(".trouble")
}

// TestI09ReloadInAStream: the text on the screen is the answer, however often the page is reloaded
// while it streams.
func TestI09ReloadInAStream(t *testing.T) {
	h := build(t, advise(twice))
	text := "Über den Bäumen – " + words(80)
	h.play(opus, faultlab.CutAfter("Über den"), faultlab.SlowAnswer(text, 25*time.Millisecond))
	w := h.ask(true)
	w.says(".prose", "word")
	w.reload()
	w.says(".prose", "word")
	w.reload()
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
	if got := w.text(".prose"); got != text {
		t.Errorf("on the screen is %q, not %q", got, text)
	}
	if n := eval[int](w, `document.querySelectorAll('.prose').length`); n != 1 {
		t.Errorf("%d answers are on the screen", n)
	}
}

func TestTheConnectionIsLostAndBack(t *testing.T) {
	h := build(t)
	text := words(300)
	h.play(opus, faultlab.SlowAnswer(text, 15*time.Millisecond))
	w := h.ask(false)
	w.says(".prose", "word")
	call(w, network.Enable, network.EnableParams{})
	connected := func(yes bool) {
		rules := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{
			{URLPattern: "", Offline: !yes, DownloadThroughput: -1, UploadThroughput: -1},
		}}
		call(w, network.EmulateNetworkConditionsByRule, rules)
		call(w, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: !yes, DownloadThroughput: -1, UploadThroughput: -1})
	}
	connected(false)
	w.says(".reconnecting", "Reconnecting…")
	if got := w.text(".run"); !strings.Contains(got, "word") || strings.Contains(got, "offline") {
		t.Errorf("the run is shown as %q", got) // the browser's connection does not affect the run
	}
	connected(true)
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
	if got := w.text(".prose"); got != text {
		t.Errorf("on the screen is %q", got)
	}
	w.lacks(".reconnecting")
}

// TestADamagedAddressIsANewConversation: a link that was cut within a character still opens the
// page.
func TestADamagedAddressIsANewConversation(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Here I am."))
	w := h.open("/#/s/plan%E2%8", desktop)
	w.reload()
	w.send("hi")
	w.says(".prose", "Here I am.")
}

func TestSignIn(t *testing.T) {
	h := build(t)
	w := h.visit("/", desktop)
	w.says(".signin", "Run this on the computer that Mulligan runs on")
	used := h.link()
	in := h.visit(used, desktop)
	in.wait(`document.querySelector('.pick option')?.innerText === '` + opus + `'`)
	in.wait(`location.hash === '' && !document.cookie`) // no script can read it
	w.press("Try again")                                // this browser is signed in now
	w.wait(`document.querySelector('#message')`)
	w.press("Sign out")
	w.says(".signin", "mulligan login")
	again := h.visit(used, desktop)
	again.says(".signin", "The code is wrong, was used, or is older than a minute")
	again.do(chromedp.SendKeys("#link", "no link at all"))
	again.says("#link-help", "This is no sign-in link")
	eval[any](again, `document.querySelector('#link').value = ''`)
	again.do(chromedp.SendKeys("#link", h.link()))
	again.press("Sign in")
	again.wait(`document.querySelector('#message')`)
}

// TestModelsCannotReachOut: what a model writes loads no external image, runs nothing, and styles
// nothing.
func TestModelsCannotReachOut(t *testing.T) {
	h := build(t)
	hostile := "![secret](https://example.org/pixel.png) <img src=x onerror=alert(1)> <script>window.hit = 1</script> " +
		"[click](javascript:window.hit=2) <div style=\"position:fixed\">x</div> <iframe src=\"/\"></iframe> <form action=\"/\"><input name=a></form> " +
		"[fine](https://example.org/)"
	h.play(opus, faultlab.Answer(hostile))
	w := h.ask(false)
	w.says(".prose", "[picture: secret]")
	w.says(".prose", "<script>window.hit = 1</script>") // as it was written
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
	for _, js := range []string{
		`document.querySelectorAll('.prose :is(img, script, iframe, form, input, [style], [onerror])').length`,
		`[...document.querySelectorAll('.prose a')].filter((a) => a.protocol !== 'https:' && a.hasAttribute('href')).length`,
		`[...document.querySelectorAll('.prose a')].filter((a) => !a.rel.includes('noopener')).length`,
		`performance.getEntriesByType('resource').filter((r) => new URL(r.name).origin !== location.origin).length`,
		`window.hit ?? 0`,
	} {
		if n := eval[int](w, js); n != 0 {
			t.Errorf("%s is %d", js, n)
		}
	}
}

// TestS10NothingThatAModelWritesRuns sends a hundred injection attempts through the chat.
func TestS10NothingThatAModelWritesRuns(t *testing.T) {
	vectors := []string{
		`<script>hit()</script>`, `<img src=x onerror=hit()>`, `<svg onload=hit()>`, `<svg><script>hit()</script></svg>`, `<body onload=hit()>`,
		`<iframe src="javascript:hit()"></iframe>`, `<iframe srcdoc="<script>parent.hit()</script>"></iframe>`, `<a href="javascript:hit()">x</a>`,
		`<math><mtext><table><mglyph><style><img src=x onerror=hit()>`, `<form><button formaction="javascript:hit()">x</button></form>`,
		`<details open ontoggle=hit()>`, `<input autofocus onfocus=hit()>`, `<video><source onerror=hit()></video>`, `<object data="javascript:hit()">`,
		`<embed src="javascript:hit()">`, `<link rel=stylesheet href=//example.org/x.css>`, `<meta http-equiv=refresh content="0;url=//example.org">`,
		`<base href=//example.org/>`, `<style>@import "//example.org/x.css"</style>`, `<p style="background:url(//example.org/x)">x</p>`,
		`<noscript><p title="</noscript><img src=x onerror=hit()>">`, `<template><script>hit()</script></template>`, `<x-y onclick=hit() tabindex=1 autofocus>x</x-y>`,
		`"><script>hit()</script>`, `<!--><img src=x onerror=hit()>-->`,
	}
	var lines []string
	for _, v := range vectors {
		url := strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(v)
		lines = append(lines, v, "Inline "+v+" text", "[x](javascript:hit%28%29 '"+v+"') [y](data:text/html,"+url+")", "| a |\n|---|\n| ![z](//example.org/"+url+") "+v+" |")
	}
	h := build(t)
	h.play(opus, faultlab.Answer(strings.Join(lines, "\n\n")+"\n\nThe end."))
	w := h.open("/", desktop)
	eval[any](w, `window.hits = 0; window.hit = () => { window.hits++; }; void 0`)
	w.send("Plan my week")
	w.says(".prose", "The end.")
	w.wait(`document.querySelector('.run')?.dataset.status === 'completed'`)
	for _, js := range []string{
		`window.hits`,
		`[...document.querySelectorAll('.prose *')].filter((e) => !/^(P|A|BR|CODE|DIV|EM|STRONG|TABLE|THEAD|TBODY|TR|TD|TH|PRE|LI|UL|OL|BLOCKQUOTE|H[1-6]|HR|DEL|SUB|SUP|KBD)$/.test(e.tagName)).length`,
		`[...document.querySelectorAll('.prose *')].flatMap((e) => [...e.attributes]).filter((a) => /^on|^style$|^srcdoc$/.test(a.name) || /^\s*(javascript|data|vbscript):/i.test(a.value)).length`,
		`performance.getEntriesByType('resource').filter((r) => new URL(r.name).origin !== location.origin).length`,
	} {
		if n := eval[int](w, js); n != 0 {
			t.Errorf("%s is %d", js, n)
		}
	}
}

func TestRememberedChoices(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	w.auto(true)
	eval[any](w, `document.querySelector('.remember input').click()`)
	eval[any](w, `(() => { const s = document.querySelector('.themes select'); s.value = 'dark'; s.dispatchEvent(new Event('change')); })()`)
	w.reload()
	w.wait(`document.documentElement.dataset.theme === 'dark'`)
	if !w.isAuto() {
		t.Error("the choice was not remembered")
	}
	h.play(opus, faultlab.Answer(answer))
	w.send("Plan my week")
	w.says(".prose", "Monday")
	w.auto(false)
	w.reload()
	w.says(".prose", "Monday")
	w.wait(`document.querySelector('.switch').getAttribute('aria-checked') === 'false'`) // the conversation has a setting of its own
}

func TestANotificationWhenARunWaits(t *testing.T) {
	h := build(t)
	w := h.open("/", desktop)
	eval[any](w, `window.__told = []; window.Notification = class { static permission = 'granted'; constructor(title, o) { __told.push(title + ': ' + o.body); } };
		Object.defineProperty(document, 'hidden', { value: true }); void 0`)
	h.play(opus, faultlab.Overloaded())
	w.send("Plan my week")
	w.wait(`window.__told[0] === 'Mulligan needs you: Plan my week'`)
}

// TestAxe runs axe-core on every state, on a desktop and on a phone, in both themes.
func TestAxe(t *testing.T) {
	source := axe(t)
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			h := build(t, s.options...)
			s.play(h)
			w := h.ask(s.auto)
			s.arrive(w)
			for _, l := range looks {
				w.be(l)
				w.audit(source)
			}
		})
	}
}

// audit reports what axe-core finds.
func (w *window) audit(source string) {
	w.t.Helper()
	eval[any](w, source+`; void 0`)
	eval[any](w, `window.__axe = undefined; void axe.run(document, { resultTypes: ['violations'] }).then((r) => { window.__axe = r.violations
		.map((v) => v.impact + ' ' + v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120) + ' ' + n.any.concat(n.all).map((c) => c.message).join(';')).join(' | ')); }); void 0`)
	w.wait(`window.__axe`)
	for _, found := range eval[[]string](w, `window.__axe`) {
		w.t.Error(found)
	}
}

// axe is the source of axe-core, an accessibility checker for pages.
func axe(t *testing.T) string {
	t.Helper()
	chromium(t)
	source, err := os.ReadFile("../../.cache/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("axe-core is not there: make web installs it: ", err)
		}
		t.Skip("SKIPPED: axe-core is not there (make web installs it): ", err)
	}
	return string(source)
}

// looks checks a state in every look: axe-core finds nothing, nothing is wider than the window, and
// a screenshot is taken if that was requested.
func (w *window) looks(source, name string) {
	w.t.Helper()
	before := look{width: 1280, height: 820, scale: 1, reduced: true}
	for suffix, l := range map[string]look{
		"light": before, "dark": {width: 1280, height: 820, scale: 1, dark: true, reduced: true},
		"phone": {width: 390, height: 780, scale: 2, reduced: true}, "phone-dark": {width: 390, height: 780, scale: 2, dark: true, reduced: true},
	} {
		w.be(l)
		w.audit(source)
		if wide := eval[int](w, `document.documentElement.scrollWidth`); int64(wide) > l.width {
			w.t.Errorf("%s, %s: it is %d px wide", name, suffix, wide)
		}
		if *screenshots {
			w.shoot(name + "-" + suffix)
		}
	}
	w.be(before)
}
