package main

import (
	"net/http"
	"path/filepath"
	"strings"
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

// TestNothingIsBrokenByTheTerminal: what is printed of runs fits 80 columns; no line is broken in the middle of a
// word by the terminal itself.
func TestNothingIsBrokenByTheTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, "529, cut:Here is a plan that leaves Friday, answer:Here., 529")
	h.mulligan(0, "run", "--auto-recover", "Plan my week so that Friday afternoon is free for once")
	h.mulligan(3, "run", "Draft the quarterly report for the board, and what follows from it")
	run, _, _ := strings.Cut(strings.Split(h.mulligan(0, "runs", "list", "--text", "Plan my week"), "\n")[1], " ")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"runs", "show", run}, "before attempt 2/3"},
		{[]string{"runs", "list", "--cause", "overloaded", "--needs-you"}, "recoverable"},
		{[]string{"recover", "--all", "--cause", "overloaded", "--action", "retry", "--dry-run"}, "would: Retry  Draft the"},
	} {
		p := h.inTerminal(80, 24, c.args...)
		p.shows(c.want, "left with 0")
		if broken, whole := p.tmux("capture-pane", "-p", "-S", "-"), p.tmux("capture-pane", "-p", "-J", "-S", "-"); strings.Count(broken, "\n") != strings.Count(whole, "\n") {
			t.Errorf("%v:\n%s", c.args, broken)
		}
	}
}
