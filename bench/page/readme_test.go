package page

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// TestTheReadmesButtons runs the JavaScript of the client's README as it stands there.
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
	h.example = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><script type="importmap">{"imports":{"@mulligan-run/client":"/client.js"}}</script>
			<p id="answer"></p><p id="status"></p><div id="buttons"></div><script type="module">%s</script>`, code[1])
	}
	h.play(opus, faultlab.Overloaded(), faultlab.Answer(answer))
	w := h.visit("/example", desktop)
	w.says("#status", "Anthropic is overloaded. Its servers are full (529)")
	w.press("Retry")
	w.says("#answer", answer)
	w.lacks("#buttons button")
}
