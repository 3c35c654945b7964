package page

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/needs"
	"github.com/mulligan-run/mulligan/recovery"
)

// beside returns a folder with a file of the repository and an example's packages as their registry
// has them.
func (h *harness) beside(app, file string) string {
	h.t.Helper()
	cache := filepath.Join("..", "..", ".cache", "clients")
	modules, err := filepath.Abs(filepath.Join(cache, app, "node_modules"))
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(cache, app, "installed")); err != nil {
		if _, unreachable := os.Stat(filepath.Join(cache, "unreachable")); os.Getenv("CI") == "true" && unreachable != nil {
			h.t.Fatalf("%s is not installed, and its registry is there: make clients (%v)", app, err)
		}
		h.t.Skipf("NOT TESTED: %s is not installed: make clients (%v)", app, err)
	}
	dir := h.t.TempDir()
	source, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), source, 0o600)
	}
	if err == nil {
		err = os.Symlink(modules, filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// app bundles an example and opens it in a signed-in tab.
func (h *harness) app(name string) *window {
	h.t.Helper()
	chromium(h.t)
	needs.Programs(h.t, "a page of a web app", "node")
	dir := h.beside(name, filepath.Join("..", "..", "examples", name, "app.jsx"))
	cmd := exec.CommandContext(h.t.Context(), filepath.Join("node_modules", ".bin", "esbuild"), "app.jsx", "--bundle", "--format=esm", "--jsx=automatic",
		`--define:process.env.NODE_ENV="production"`, "--outfile=app.js", "--log-level=warning")
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%v: %s", err, said)
	}
	script, err := os.ReadFile(filepath.Join(dir, "app.js"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.example = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-eval'") // libraries check whether they may use eval
		if r.URL.Path == "/example/app.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(script)
			return
		}
		fmt.Fprint(w, `<!doctype html><body><script type="module" src="/example/app.js"></script>`)
	}
	w := h.open("/example/#chat", desktop)
	w.wait(typed)
	return w
}

// typed is where an app's messages are typed.
const typed = `document.querySelector('form :is(input, textarea)')`

// write types a message into an app and sends it.
func (w *window) write(text string) {
	w.t.Helper()
	w.types(text)
	eval[any](w, `document.querySelector('form').requestSubmit()`)
	w.says("section.user", text)
}

// types types a text into an app's message box.
func (w *window) types(text string) {
	w.t.Helper()
	w.wait(typed)
	eval[any](w, `(() => { const box = `+typed+`; box.focus();
		Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), 'value').set.call(box, `+quote(text)+`);
		box.dispatchEvent(new Event('input', { bubbles: true })) })()`)
}

// again reloads an app's page.
func (w *window) again() {
	w.t.Helper()
	eval[any](w, `window.__before = true`)
	eval[any](w, `location.reload()`)
	w.wait(`!window.__before && ` + typed)
}

// TestApps: the examples, with the third-party packages that they use, in a browser. Text of a
// failed attempt is withdrawn; buttons are shown and answer; a page that is reloaded during an
// answer continues with it; no message is ever lost; a failure that cannot be recovered from is
// shown as an error.
func TestApps(t *testing.T) {
	for _, name := range []string{"aisdk-react", "agui-react", "assistant-ui-react"} {
		t.Run(name, func(t *testing.T) {
			h := build(t, advise(func(e hooks.RunError) recovery.Vote {
				if e.Failure.Kind == failure.KindAuth {
					return recovery.Vote{Action: recovery.ActionFail, Reason: "nobody can do anything about it"}
				}
				return recovery.Vote{Action: recovery.ActionRetry}
			}))
			h.play(opus, faultlab.CutAfter("Half of it"), faultlab.Answer("The whole answer."), faultlab.SlowAnswer(long, 40*time.Millisecond),
				faultlab.SlowAnswer(words(2000), 40*time.Millisecond), faultlab.Answer("That is new."), faultlab.Overloaded(), faultlab.Answer("That, too."), faultlab.Unauthorized())
			w := h.app(name)
			w.pressesAButton()
			w.isLoadedInTheMiddle()
			w.losesNoMessage()
			w.write("And the end?")
			w.says("[role=alert]", "API key")
			if n := len(h.lab.Requests()); n != 8 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// TestAppsAssistantUI: what only assistant-ui has. Its button that stops an answer ends the run,
// and a message that is being typed meanwhile is kept.
func TestAppsAssistantUI(t *testing.T) {
	h := build(t, advise(func(hooks.RunError) recovery.Vote { return recovery.Vote{Action: recovery.ActionRetry} }))
	h.play(opus, faultlab.SlowAnswer(words(2000), 40*time.Millisecond))
	w := h.app("assistant-ui-react")
	w.write("A long one, please.")
	w.says("section.assistant", "word word")
	w.types("Next I")
	w.press("Stop")
	w.says("[role=status].stopped", "Stopped")
	w.wait(typed + `.value === 'Next I'`)
}

// long is an answer that takes some seconds.
var long = words(100) + " end"

func (w *window) pressesAButton() {
	w.t.Helper()
	w.write("What is a mulligan?")
	w.says("section.assistant", "Half of it")
	w.says("[role=status].suggestion", "Retry")
	w.press("Retry")
	w.says("section.assistant", "The whole answer.")
	w.says("[role=status].recovered", "Recovered after 1 retry")
	w.wait(`!document.body.innerText.includes('Half of it') && !document.querySelector('[role=status] button')`)
}

func (w *window) isLoadedInTheMiddle() {
	w.t.Helper()
	w.write("Tell me more.")
	w.says("section.assistant:last-of-type", "word word")
	w.again()
	w.says("section.user", "Tell me more.")
	w.wait(`document.querySelector('section:last-of-type').innerText.trim() === ` + quote(long))
	w.wait(`[...document.querySelectorAll('section')].map((s) => s.className).join(' ') === 'user assistant user assistant'`)
}

func (w *window) losesNoMessage() {
	w.t.Helper()
	w.write("A long one, please.")
	w.says("section.assistant:last-of-type", "word word")
	w.write("No, something new.")
	w.says("section.assistant", "That is new.")
	w.write("And now?")
	w.says("[role=status].suggestion", "Retry")
	w.write("Never mind. This?")
	w.says("section.assistant", "That, too.")
}
