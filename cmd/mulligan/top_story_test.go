package main

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestTop: runs and providers of a gateway are on one screen of 80 by 24 and change while it is looked
// at; without a gateway the runs are there alone.
func TestTop(t *testing.T) {
	t.Parallel()
	h := newHome(t, "529, answer:Here., answer:And here., 503")
	a := h.listening(filepath.Join(h.dir, "state", "mulligan"))
	begin := func(prompt string, status recovery.Status) {
		t.Helper()
		var run gateway.Run
		a.post("/v1/runs", `{"prompt":"`+prompt+`","autoRecover":true}`, &run)
		a.until("the run stands", func() bool {
			a.ask(http.MethodGet, "/v1/runs/"+run.ID, "", &run)
			return run.Status == status
		})
	}
	p := h.inTerminal(80, 24, "top")
	p.shows("There is no such run.", "q leave")
	begin("Plan my week", recovery.StatusCompleted)
	p.shows("Plan my week", "Providers", "MODEL", "fable/one", "1 (50 %)", "1 overloaded")
	begin("And my weekend", recovery.StatusCompleted)
	p.shows("And my weekend", "1 (33 %)")
	p.keys("n")
	p.shows("Nothing needs you.", "Providers", "n all runs")
	p.keys("n")
	p.shows("❯ ", "And my weekend")
	a.stop()
	p.gone("Providers")
	p.shows("And my weekend")
	p.types("q")
	p.shows("left with 0")
}
