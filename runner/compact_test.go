package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

var tooLong = failure.NewFailure(failure.KindContextOverflow, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)

// conversation is talk of so many turns, each of so many bytes.
func conversation(turns, bytes int) []llm.Message {
	var messages []llm.Message
	for i := range turns {
		messages = append(messages, llm.User(fmt.Sprintf("question %d %s", i, strings.Repeat("q", bytes))),
			llm.Message{Role: llm.RoleAssistant, Model: primary, Parts: []llm.Part{{Text: fmt.Sprintf("answer %d", i)}}})
	}
	return append(messages, llm.User("and now?"))
}

var shorten = recovery.Vote{Action: recovery.ActionRetry, Adjust: recovery.Adjust{Compact: true}}

func TestCompactionSumsOldTurnsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(fails("", tooLong), answers("They talked."), answers("fits"))
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithAutoRecover(true), runner.WithHook("h", advise(shorten)))
		run, err := r.Start(t.Context(), runner.Request{Messages: conversation(20, 1000)})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "fits" {
			t.Fatalf("got %+v, %v", result, err)
		}
		calls := model.calls()
		if told := calls[1].Messages[0].Text(); !strings.Contains(told, "user: question 0") || !strings.Contains(told, "assistant: answer 3") {
			t.Errorf("the summary was made from %.200s", told)
		}
		last := calls[2].Messages
		if text := last[0].Text(); !strings.Contains(text, "They talked.") || len(last) > 20 || last[len(last)-1].Text() != "and now?" {
			t.Errorf("%d messages were sent, the first %q", len(last), text)
		}
		if used := result.State.Usage; used.InputTokens != 20 {
			t.Errorf("the run used %+v: the summary counts", used)
		}
		wantLines(t, log, run.ID(), "This conversation is too long for one. Retrying unchanged will not help.", "Shortening the conversation to fit a/one…", "Too long for one. Retrying… (attempt 1/3)", "Recovered after 1 retry", "Done.")
	})
}

// TestI42ACompactionThatFailsEnds: a model that hangs, refuses or says nothing writes no
// summary; it is said, and nothing is tried for ever.
func TestI42ACompactionThatFailsEnds(t *testing.T) {
	for name, summary := range map[string]step{
		"hangs": stalls(""), "refuses": fails("", overload), "says nothing": answers(" "), "panics": panics, "is too long, too": fails("", tooLong),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := script(fails("", tooLong), summary)
				r := runner.New(runner.WithModel(primary, model), runner.WithModel(secondary, script(answers("no"))), runner.WithAutoRecover(true), runner.WithHook("h", advise(shorten)))
				began := time.Now()
				run, err := r.Start(t.Context(), runner.Request{Messages: conversation(20, 1000)})
				if err != nil {
					t.Fatal(err)
				}
				_, err = run.Wait(t.Context())
				failed := wantError(t, err, failure.KindContextOverflow)
				if s := failed.Suggestion; s == nil || s.BlockedBy != "compaction" || s.NewModel != secondary {
					t.Errorf("suggested: %+v", s)
				}
				if n := len(model.calls()); n != 2 || time.Since(began) > 4*time.Minute {
					t.Errorf("%d requests in %s", n, time.Since(began))
				}
			})
		})
	}
}

func TestCancelInASummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner.New(runner.WithModel(primary, script(fails("", tooLong), stalls("They"))), runner.WithAutoRecover(true), runner.WithHook("h", advise(shorten)))
		ctx, cancel := context.WithCancel(t.Context())
		run, err := r.Start(ctx, runner.Request{Messages: conversation(20, 1000)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		cancel()
		if result, err := run.Wait(t.Context()); err == nil || result.Status != recovery.StatusCancelled {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}
