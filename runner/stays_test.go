package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// counted answers with what it used of a prompt cache.
func counted(text string, used llm.Usage) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		hear(llm.Delta{Kind: llm.DeltaText, Text: text})
		hear(llm.Delta{Kind: llm.DeltaUsage, Usage: used})
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
		return nil
	}
}

// blind is a model that takes no images.
type blind struct{ *scripted }

func (blind) Capabilities() llm.Capabilities { return llm.Capabilities{NoImages: true} }

// callers make calls of named conversations.
type callers struct {
	*testing.T
	runner *runner.Runner
	log    timeline.Log
}

// call makes a call of a conversation, and gives who was asked, in order, and what people were told.
func (c callers) call(session string, more ...llm.Part) (asked []string, told string) {
	c.Helper()
	heard := &listener{}
	req := callOf(c.runner, heard, true)
	req.SessionKey = session
	req.Policy.Models = []string{"a/one", "b/two"}
	req.Model = "a/one"
	req.Call.Request.Messages[0].Parts = append(req.Call.Request.Messages[0].Parts, more...)
	run, err := c.runner.Start(c.Context(), req)
	if err != nil {
		c.Fatal(err)
	}
	if _, err := run.Wait(c.Context()); err != nil {
		c.Fatal(err)
	}
	events, err := c.log.Read(c.Context(), run.ID(), 0, 100)
	if err != nil {
		c.Fatal(err)
	}
	for _, e := range events {
		told += e.Text + "\n"
	}
	return heard.began, told
}

func (c callers) wants(session string, want []string, more ...llm.Part) (told string) {
	c.Helper()
	asked, told := c.call(session, more...)
	if !slices.Equal(asked, want) {
		c.Errorf("conversation %s: %v were asked, and not %v", session, asked, want)
	}
	return told
}

// conversations are before two models, whose steps come one after the other.
func conversations(t *testing.T, one, two llm.Model) callers {
	t.Helper()
	known, log := health.New(), timeline.NewMemory()
	switching := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model}, nil
	})
	return callers{t, runner.New(
		runner.WithModel("a/one", one), runner.WithModel("b/two", two), runner.WithHook("h", switching),
		runner.WithHealth(known), runner.WithLog(log),
	), log}
}

var (
	first, second, both = []string{"a/one"}, []string{"b/two"}, []string{"a/one", "b/two"}
	reset               = failure.NewFailure(failure.KindUnreachable, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
)

// TestAConversationStays: if a call was switched to another model, the next calls of its
// conversation go there directly for a while; those of other conversations do not.
func TestAConversationStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := fails("", reset)
		one := script(counted("1", llm.Usage{InputTokens: 50, CacheWriteTokens: 9000}), down, answers("other"), down, answers("well"), answers("still"))
		two := script(counted("2", llm.Usage{InputTokens: 9060, OutputTokens: 4}), answers("3"), answers("4"), answers("5"), answers("6"))
		c := conversations(t, one, two)
		c.wants("x", first)
		if told := c.wants("x", both); !strings.Contains(told, "now using b/two · 9,000 tokens of a prompt cache were lost") {
			t.Errorf("told %q", told)
		}
		if told := c.wants("x", second); !strings.Contains(told, "a/one failed; the conversation stays with b/two until ") || strings.Contains(told, "cache") {
			t.Errorf("told %q", told)
		}
		c.wants("y", first)
		time.Sleep(20 * time.Second)
		c.wants("x", both) // it is tried again, and fails again
		time.Sleep(19 * time.Second)
		c.wants("x", second)
		time.Sleep(time.Second)
		c.wants("x", first) // it is back
		c.wants("x", first)
	})
}

// TestAConversationStaysWhileItCools: a cooldown that is longer counts.
func TestAConversationStaysWhileItCools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := failure.NewFailure(failure.KindRateLimit, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		limited.Model, limited.RetryAfter = "a/one", failure.InMillis(10*time.Minute)
		one := script(fails("", limited), answers("well"))
		two := script(answers("1"), answers("2"), answers("3"))
		c := conversations(t, one, two)
		c.wants("x", both)
		time.Sleep(10*time.Minute - time.Second)
		if told := c.wants("x", second); !strings.Contains(told, "stays with b/two") {
			t.Errorf("told %q", told)
		}
		time.Sleep(time.Second)
		c.wants("x", first)
	})
}

// TestAConversationStaysWhereItFits: a call with a picture does not stay with a model that takes none.
func TestAConversationStaysWhereItFits(t *testing.T) {
	one := script(fails("", reset), answers("a cat"))
	two := blind{script(answers("1"), answers("2"))}
	c := conversations(t, one, two)
	c.wants("x", both)
	c.wants("x", first, llm.Part{Image: &llm.Image{MediaType: "image/png", Data: []byte("png")}})
}

// TestWhatAStayRefusesIsNoMistake: if the model that a conversation stays with refuses a request,
// the cause may be what the request was turned into for that model: the model that the caller named
// is asked.
func TestWhatAStayRefusesIsNoMistake(t *testing.T) {
	refuses := failure.NewFailure(failure.KindInvalidRequest, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	c := conversations(t, script(fails("", reset), answers("well")), script(answers("1"), fails("", refuses)))
	c.wants("x", both)
	c.wants("x", []string{"b/two", "a/one"})
}

// TestACallOfNoConversationStaysNowhere: calls that name no conversation do not belong together.
func TestACallOfNoConversationStaysNowhere(t *testing.T) {
	c := conversations(t, script(fails("", reset), answers("well")), script(answers("1"), answers("2")))
	c.wants("", both)
	c.wants("", first)
}
