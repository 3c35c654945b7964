package page

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// wentAway is what Chromium says of an expression that was being evaluated when its page was left.
const wentAway = "Inspected target navigated or closed"

// timeout is how long a state may take to appear, unless a longer wait is part of the test.
const timeout = 30 * time.Second

var browser struct {
	once  sync.Once
	path  string
	why   error // there is none
	ctx   context.Context
	close context.CancelFunc
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.close != nil {
		browser.close()
	}
	os.Exit(code)
}

// chromium starts the tests' only browser, or skips if there is none.
func chromium(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("drives a browser")
	}
	browser.once.Do(func() {
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
			if browser.why = needs.Runs(name); browser.why == nil {
				browser.path = name
				break
			}
			if !errors.Is(browser.why, exec.ErrNotFound) {
				break // it is installed, and does not run
			}
		}
		if browser.path == "" {
			return
		}
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
			chromedp.ExecPath(browser.path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("force-color-profile", "srgb"),
			chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("lang", "en-US"))
		allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		browser.ctx, browser.close = ctx, func() { cancel(); cancelAllocator() }
		if err := chromedp.Do(ctx); err != nil {
			browser.close()
			browser.ctx, browser.close = nil, nil
			browser.path, browser.why = "", fmt.Errorf("it does not start: %w", err)
		}
	})
	if browser.path == "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("the page needs Chromium, for example Debian's package chromium: %v", browser.why)
		}
		t.Skipf("NOT TESTED: the page needs Chromium, and was not looked at: %v", browser.why)
	}
	return browser.ctx
}

// window is one tab.
type window struct {
	t       *testing.T
	ctx     context.Context
	timeout time.Duration

	mu       sync.Mutex
	problems []string // errors in the page's console
}

// look is a window's size and appearance.
type look struct {
	width, height int64
	scale         float64
	dark          bool
	reduced       bool // motion
}

var desktop = look{width: 1200, height: 820, scale: 1, reduced: true}

// movable lets a test advance the page's clock.
const movable = `(() => { const real = Date.now; window.__skip = Number(sessionStorage.getItem('skip') || 0);
	Date.now = () => real.call(Date) + window.__skip; })()`

// open signs a new tab in, and opens the chat page at a path.
func (h *harness) open(path string, l look) *window {
	h.t.Helper()
	w := h.visit(h.link(), l)
	w.wait(`document.querySelector('#message') && !document.querySelector('.signin') && location.hash === ''`)
	w.wait(`document.querySelector('.pick option')?.innerText === '` + opus + `'`) // it is signed in
	if path != "/" {
		w.do(chromedp.Navigate(h.url + path))
	}
	return w
}

// visit opens a tab at a path of the harness.
func (h *harness) visit(path string, l look) *window {
	h.t.Helper()
	ctx, cancel := chromedp.NewContext(chromium(h.t))
	w := &window{t: h.t, ctx: ctx, timeout: timeout}
	h.t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, p := range w.problems {
			h.t.Error("the console says:", p)
		}
		cancel()
	})
	w.do() // opens the tab
	go w.hear()
	call(w, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: movable})
	w.be(l)
	w.do(chromedp.Navigate(h.url + path))
	return w
}

// be gives a window a look.
func (w *window) be(l look) {
	w.t.Helper()
	call(w, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: l.width, Height: l.height, DeviceScaleFactor: l.scale, Mobile: l.width < 600,
	})
	scheme, motion := "light", "no-preference"
	if l.dark {
		scheme = "dark"
	}
	if l.reduced {
		motion = "reduce"
	}
	call(w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
	}})
}

// hear collects the page's errors; a refused request is not an error of the page.
func (w *window) hear() {
	for message, err := range chromedp.Console(w.ctx) {
		if err != nil {
			return
		}
		if (message.Type == chromedp.ConsoleException || message.Type == "error") && !strings.HasPrefix(message.Text, "Failed to load resource") {
			w.mu.Lock()
			w.problems = append(w.problems, message.Text)
			w.mu.Unlock()
		}
	}
}

// do runs actions.
func (w *window) do(actions ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, actions...); err != nil {
		w.t.Fatal(err)
	}
}

// call sends a command to the tab.
func call[P, R any](w *window, command cdp.Command[P, R], params P) R {
	w.t.Helper()
	result, err := chromedp.Call(w.ctx, command, params)
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

// eval evaluates an expression. If it throws it is tried again, since an element may not be there
// yet, and so it is if the page went to another one meanwhile.
func eval[T any](w *window, js string) T {
	w.t.Helper()
	for end := time.Now().Add(w.timeout); ; time.Sleep(25 * time.Millisecond) {
		value, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](js))
		if err == nil {
			return value
		}
		_, threw := errors.AsType[*chromedp.ExceptionError](err)
		if refused, ok := errors.AsType[*cdproto.Error](err); (threw || ok && refused.Message == wentAway) && time.Now().Before(end) {
			continue
		}
		w.t.Fatalf("%s: %v", js, err)
	}
}

// wait waits until an expression is true.
func (w *window) wait(js string) {
	w.t.Helper()
	for end := time.Now().Add(w.timeout); ; time.Sleep(25 * time.Millisecond) {
		if eval[bool](w, "!!("+js+")") {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("it never came to %s; the page says:\n%s", js, w.text("body"))
		}
	}
}

// text is an element's text, as people see it.
func (w *window) text(selector string) string {
	w.t.Helper()
	return eval[string](w, `document.querySelector(`+quote(selector)+`)?.innerText ?? ''`)
}

// says waits until an element's text is text.
func (w *window) says(selector, text string) {
	w.t.Helper()
	w.wait(`[...document.querySelectorAll(` + quote(selector) + `)].some((e) => e.innerText.replace(/\s+/g, ' ').includes(` + quote(text) + `))`)
}

// matches waits until an element's text matches a regular expression of JavaScript; seconds may
// pass on a slow machine.
func (w *window) matches(selector, expression string) {
	w.t.Helper()
	w.wait(`[...document.querySelectorAll(` + quote(selector) + `)].some((e) => /` + expression + `/.test(e.innerText.replace(/\s+/g, ' ')))`)
}

// lacks waits until no element matches.
func (w *window) lacks(selector string) {
	w.t.Helper()
	w.wait(`document.querySelectorAll(` + quote(selector) + `).length === 0`)
}

// press clicks the button with a label, also a model's in a closed menu.
func (w *window) press(label string) {
	w.t.Helper()
	find := `[...document.querySelectorAll('button, summary')].find((b) => !b.disabled && (b.checkVisibility() || b.closest('.choices')) &&
		(b.querySelector('span:not(.track)')?.textContent.trim() === ` + quote(label) + ` || b.innerText.trim() === ` + quote(label) + `))`
	w.wait(find)
	eval[any](w, find+`.click()`)
}

// send types a message and sends it.
func (w *window) send(text string) {
	w.t.Helper()
	w.do(chromedp.SendKeys("#message", text))
	w.key("Enter", 0)
}

// auto switches automatic recovery on or off.
func (w *window) auto(on bool) {
	w.t.Helper()
	if got := w.isAuto(); got != on {
		w.press("Auto-recover")
		w.wait(`document.querySelector('.switch').getAttribute('aria-checked') === '` + map[bool]string{true: "true", false: "false"}[on] + `'`)
	}
}

func (w *window) isAuto() bool {
	return eval[bool](w, `document.querySelector('.switch').getAttribute('aria-checked') === 'true'`)
}

// skip advances the page's clock.
func (w *window) skip(d time.Duration) {
	w.t.Helper()
	eval[any](w, `window.__skip = `+strconv.FormatInt(d.Milliseconds(), 10))
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// alt is the modifier of the shortcuts.
const alt = 1

// key presses a key.
func (w *window) key(name string, modifiers int64) {
	w.t.Helper()
	code := name
	if len(name) == 1 {
		code = "Digit" + name
	}
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(w, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: name, Code: code, Modifiers: modifiers})
	}
}

// reload reloads the page.
func (w *window) reload() {
	w.t.Helper()
	w.do(chromedp.Reload())
	w.wait(`document.querySelector('mulligan-app')?.childElementCount > 0`)
}
