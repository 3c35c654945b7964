package pi

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestKinds plays what a provider can do to Pi. Each fault gives one failure of the right kind, and
// the run recovers, by a retry or with another model; tool results are kept.
func TestKinds(t *testing.T) {
	const tool = `tool:bash:{"command":"cd $PI_CODING_AGENT_DIR && echo danger >> ran; cat ran"}, `
	both(t, func(t *testing.T, command []string) {
		for name, c := range map[string]struct {
			script string // of the first model; the second one answers
			want   failure.Kind
			status int
		}{
			"rate limit": {tool + "429:0s, answer:Fine.", failure.KindRateLimit, 429},
			"overloaded": {tool + "529, answer:Fine.", failure.KindOverloaded, 529},
			"bad key":    {tool + "401", failure.KindAuth, 401},
			"too long":   {tool + "row:A23", failure.KindContextOverflow, 400},
			"refused":    {tool + "refuse, answer:Fine.", failure.KindUnreachable, 0},
			"cut":        {tool + "cut:Half, answer:Fine.", failure.KindStreamInterrupted, 0},
			"empty":      {tool + "empty, answer:Fine.", failure.KindEmptyResponse, 0},
		} {
			t.Run(name, func(t *testing.T) {
				h := build(t, command, map[string]string{"one": c.script, "two": "answer:Fine."}, nil)
				got := h.run(t.Context(), runner.Request{})
				if got.err != nil || got.result.Status != recovery.StatusCompleted || got.result.Text != "Fine." {
					t.Fatalf("%+v, %v", got.result, got.err)
				}
				if len(got.failures) != 1 || got.failures[0].Kind != c.want || got.failures[0].HTTPStatus != c.status || got.failures[0].Provider != "fakean" {
					t.Errorf("%+v", got.failures)
				}
				requests := h.lab.Requests()
				last := requests[len(requests)-1]
				if strings.HasPrefix(c.script, tool) && (len(got.returned) != 1 || got.returned[0].Result.Text != "danger\n" || !bytes.Contains(last.Body, []byte(`danger\n`))) {
					t.Errorf("the tool's result is not kept: %+v, %s", got.returned, last.Body)
				}
				if bytes.Contains(last.Body, []byte("Mulligan")) {
					t.Errorf("the model sees that it goes on: %s", last.Body)
				}
			})
		}
	})
}

// TestSilence plays the hangs that Pi's own timeouts do not cover.
func TestSilence(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		for name, c := range map[string]struct {
			script string
			timers recovery.Settings
			timer  failure.Timer
		}{
			"before the headers": {"hang, answer:Fine.", recovery.Settings{failure.TimerFirstEvent: 10000}, failure.TimerFirstEvent},
			"in mid-stream":      {"stall:Half, answer:Fine.", recovery.Settings{failure.TimerIdle: 1000}, failure.TimerIdle},
			"pings for ever":     {"row:T36, answer:Fine.", recovery.Settings{failure.TimerIdle: 1000}, failure.TimerIdle},
		} {
			t.Run(name, func(t *testing.T) {
				h := build(t, command, map[string]string{"one": c.script}, nil, runner.WithTimeouts(c.timers))
				got := h.run(t.Context(), runner.Request{})
				if got.err != nil || got.result.Text != "Fine." || len(got.failures) == 0 {
					t.Fatalf("%+v, %v, %+v", got.result, got.err, got.failures)
				}
				for _, f := range got.failures { // a busy machine may be late once more
					if f.Kind != failure.KindTimeout || f.Timer != c.timer {
						t.Errorf("%+v", f)
					}
				}
			})
		}
	})
}

// Pi's own retries: the failure is shown with Pi's delay, and the turn continues by itself or on
// another model.
func TestOwnRetries(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		h := build(t, command, map[string]string{"one": "529, answer:Fine."}, func(e *provider.Engine) { e.Retries = "pi" })
		got := h.run(t.Context(), runner.Request{})
		if got.err != nil || got.result.Text != "Fine." || len(got.failures) != 1 || got.failures[0].RetryAfter != 8000 || len(h.lab.Requests()) != 2 {
			t.Fatalf("%+v, %v, %+v", got.result, got.err, got.failures)
		}
	})
}

// A session is one conversation of Pi's, also across processes and with a model that Pi does not
// list.
func TestSession(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		h := build(t, command, map[string]string{"one": "answer:First., answer:Second.", "three": "answer:Third."}, nil)
		for i, want := range []string{"First.", "Second.", "Third."} {
			got := h.run(t.Context(), runner.Request{Session: "s", Prompt: "question " + want, Model: []string{one, one, unlisted}[i]})
			if got.err != nil || got.result.Text != want {
				t.Fatalf("%+v, %v", got.result, got.err)
			}
			if left := h.running(); len(left) > 0 {
				t.Errorf("%v are left after the run", left)
			}
		}
		requests := h.lab.Requests()
		last := string(requests[len(requests)-1].Body)
		rest := last
		for _, said := range []string{"question First.", "First.", "question Second.", "Second.", "question Third."} {
			_, after, ok := strings.Cut(rest, said)
			if !ok {
				t.Fatalf("%q is not in its place in %s", said, last)
			}
			rest = after
		}
	})
}

// Pi shortens a conversation that is too long for the model, and asks again: that is not a failure.
func TestShortened(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		h := build(t, command, map[string]string{"two": "answer:First., row:O20, answer:The summary., answer:Fine."}, nil)
		long := strings.Repeat("word ", 24_000) // more than Pi keeps of the latest messages, and so is the next one
		for i, want := range []string{"First.", "Fine."} {
			got := h.run(t.Context(), runner.Request{Session: "s", Prompt: long + want, Model: elsewhere})
			if got.err != nil || got.result.Text != want || len(got.failures) > 0 {
				t.Fatalf("%d: %+v, %v, %+v", i, got.result, got.err, got.failures)
			}
		}
		requests := h.lab.Requests()
		if last := requests[len(requests)-1].Body; len(requests) < 4 || len(last) > len(long)*3/2 { // how Pi summarizes is not checked
			t.Errorf("%d requests, the last has %d bytes", len(requests), len(last))
		}
	})
}

// If what Pi would have to summarize is too long as well, the conversation is too long.
func TestNotShortened(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		const tooLong = "row:O20, "
		h := build(t, command, map[string]string{"one": "answer:Fine.", "two": "answer:First., " + strings.Repeat(tooLong, 7) + "row:O20"}, nil)
		long := strings.Repeat("word ", 24_000)
		if got := h.run(t.Context(), runner.Request{Session: "s", Prompt: long, Model: elsewhere}); got.err != nil || got.result.Text != "First." {
			t.Fatalf("%+v, %v", got.result, got.err)
		}
		got := h.run(t.Context(), runner.Request{Session: "s", Prompt: long, Model: elsewhere})
		if got.err != nil || got.result.Text != "Fine." {
			t.Fatalf("%+v, %v, %+v", got.result, got.err, got.failures)
		}
		if len(got.failures) != 1 || got.failures[0].Kind != failure.KindContextOverflow {
			t.Errorf("%+v", got.failures)
		}
	})
}

// Without autoRecover nothing is retried; a person's answer continues where the run stopped.
func TestAccepted(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		h := build(t, command, map[string]string{"one": `tool:bash:{"command":"echo danger"}, 401, answer:Fine.`}, nil, runner.WithAutoRecover(false))
		got := h.run(t.Context(), runner.Request{})
		failed, ok := errors.AsType[*runner.Error](got.err)
		if !ok || failed.Suggestion == nil || len(h.running()) > 0 {
			t.Fatalf("%+v, %v, %v are left", got.result, got.err, h.running())
		}
		run, err := h.Recover(t.Context(), got.result.Run, runner.Answer{Action: recovery.ButtonRetry})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "Fine." || len(h.lab.Requests()) != 3 {
			t.Errorf("%+v, %v, %d requests", result, err, len(h.lab.Requests()))
		}
	})
}
