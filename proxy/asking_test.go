package proxy_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// suggestion is what a person is asked about a call.
type suggestion struct {
	run string
	s   recovery.Suggestion
}

// asking is a world whose proxy leaves decisions to persons, and waits for them for so long. Its
// log is another process's, too.
func asking(t *testing.T, patience time.Duration) (*world, timeline.Log) {
	t.Helper()
	route := fallback
	route.AutoRecover = false
	log := timeline.NewMemory()
	w := (&world{T: t, token: token, askFor: patience}).build(slog.New(slog.DiscardHandler), []runner.Option{runner.WithLog(log)}, route)
	return w, log
}

// outcome is what a call came to.
type outcome struct {
	said
	text string
}

func (w *world) begin() chan outcome {
	came := make(chan outcome, 1)
	go func() {
		resp, text := w.post("/v1/messages", strings.Replace(question, `"stream":true,`, "", 1))
		came <- outcome{resp, text}
	}()
	return came
}

func (w *world) nextSuggestion() suggestion {
	w.Helper()
	select {
	case s := <-w.suggested:
		return s
	case <-time.After(time.Minute):
		w.Fatal("nobody is asked")
		panic("unreachable")
	}
}

// TestAPersonDecides: a call waits with what is offered, and goes on by what a person chooses,
// whoever takes the answer.
func TestAPersonDecides(t *testing.T) {
	for name, c := range map[string]struct {
		action, model string
		elsewhere     bool
		want          string
		status        int
	}{
		"retry":                       {"retry", "", false, "All is well.", 200},
		"another model":               {"switch_model", "openai/two", false, "The other one.", 200},
		"retry, in another process":   {"retry", "", true, "All is well.", 200},
		"another, in another process": {"switch_model", "openai/two", true, "The other one.", 200},
		"stop":                        {"stop", "", false, "", 529},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, log := asking(t, time.Minute)
			w.lab.Script("one", faultlab.Overloaded(), faultlab.Answer("All is well."))
			w.lab.Script("two", faultlab.Answer("The other one."))
			came := w.begin()
			asked := w.nextSuggestion()
			if asked.s.SuggestedAction != recovery.ActionRetry || len(asked.s.Actions) < 2 {
				t.Errorf("offered %+v", asked.s)
			}
			by := w.runner
			if c.elsewhere {
				by = runner.New(runner.WithLog(log))
			}
			if _, err := by.Recover(t.Context(), asked.run, runner.Answer{Suggestion: asked.s.ID, Action: c.action, Model: c.model}); err != nil && !errors.Is(err, runner.ErrSent) {
				t.Fatal(err)
			}
			got := <-came
			if got.StatusCode != c.status || !strings.Contains(got.text, c.want) || got.Header.Get("X-Mulligan-Run") != asked.run || strings.Contains(got.text, "Nobody chose") {
				t.Errorf("%d %v %s", got.StatusCode, got.Header, got.text)
			}
		})
	}
}

// TestNobodyDecides: when the time is over, the caller is told what failed, and where that is seen.
func TestNobodyDecides(t *testing.T) {
	w, log := asking(t, 50*time.Millisecond)
	w.lab.Script("one", faultlab.Overloaded())
	came := w.begin()
	asked := w.nextSuggestion()
	got := <-came
	if got.StatusCode != 529 || !strings.Contains(got.text, "overloaded") || !strings.Contains(got.text, "Nobody chose") ||
		!strings.Contains(got.text, "http://page.example/#/r/"+asked.run) || got.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v %s", got.StatusCode, got.Header, got.text)
	}
	if n := len(w.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if _, err := runner.New(runner.WithLog(log)).Recover(t.Context(), asked.run, runner.Answer{Action: "retry"}); !errors.Is(err, recovery.ErrExpired) && !errors.Is(err, recovery.ErrNoSuggestion) {
		t.Errorf("it can still be answered: %v", err)
	}
}

// TestToldAtOnce: where no call may wait the caller hears of the failure at once.
func TestToldAtOnce(t *testing.T) {
	w, _ := asking(t, 0)
	w.lab.Script("one", faultlab.Overloaded())
	got := <-w.begin()
	if got.StatusCode != 529 || strings.Contains(got.text, "Nobody chose") || len(w.suggested) > 0 {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}

// TestTooManyWait: so many calls wait for a person and no more, and a place that is left is taken
// by the next one.
func TestTooManyWait(t *testing.T) {
	w, _ := asking(t, time.Minute)
	w.lab.Script("one", faultlab.Overloaded())
	first := []chan outcome{w.begin(), w.begin()}
	runs := []string{w.nextSuggestion().run, w.nextSuggestion().run}
	if got := <-w.begin(); got.StatusCode != 529 || !strings.Contains(got.text, "Too many") || len(w.suggested) > 0 {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
	for i := range first {
		if err := w.runner.Cancel(t.Context(), runs[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range first {
		if got := <-first[i]; got.StatusCode == http.StatusOK {
			t.Error("a call that was cancelled has an answer")
		}
	}
	again := w.begin()
	if err := w.runner.Cancel(t.Context(), w.nextSuggestion().run); err != nil {
		t.Fatal(err)
	}
	<-again
}

// TestPatienceOfCallers: nobody waits longer for a person than clients do.
func TestPatienceOfCallers(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, 301 * time.Second} {
		_, err := proxy.New(proxy.Config{AskFor: d, Token: func([32]byte) (bool, error) { return true, nil }})
		if err == nil {
			t.Errorf("%s is taken", d)
		}
	}
}
