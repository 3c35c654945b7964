package page

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// TestTheReadmesButtons runs the JavaScript of the client's README as it is written there.
func TestTheReadmesButtons(t *testing.T) {
	readme, err := os.ReadFile("../../sdk/typescript/client/README.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```js\n(.*?)```").FindSubmatch(readme)
	if code == nil {
		t.Fatal("the README has no JavaScript")
	}
	h := build(t)
	script := strings.Replace(string(code[1]), "@mulligan-run/client", "/client.js", 1)
	h.example = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/example/script.js" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, script)
			return
		}
		fmt.Fprint(w, `<!doctype html><p id="answer"></p><p id="status"></p><div id="buttons"></div><script type="module" src="/example/script.js"></script>`)
	}
	h.play(opus, faultlab.Overloaded(), faultlab.Answer(answer))
	w := h.open("/example/", desktop)
	w.says("#status", "Anthropic is overloaded. Its servers are full (529)")
	w.press("Retry")
	w.says("#answer", answer)
	w.lacks("#buttons button")
}
