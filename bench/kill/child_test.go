package kill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

const (
	planEnv   = "MULLIGAN_KILL_PLAN" // a plan in JSON: this process is a child
	model     = "lab/one"
	runID     = "one"
	maxTokens = 1 << 20 // of a run's budget, so that tokens are counted
)

// What a process does with the runs in the store.
const (
	modeStart  = "start"  // there is none: it starts one
	modeResume = "resume" // it goes on with them, as `mulligan runs resume` does
	modeKeep   = "keep"   // it resumes them, as `mulligan serve` does
)

// plan is the child's task.
type plan struct {
	Dir      string // the cycle's folder
	URL      string // the provider's
	Scenario string
	Mode     string
	Point    string        // where it dies; "" = at no named point
	Nth      int           // at the n-th time that this point is reached
	Late     time.Duration // see killPoint
	Fault    string        // planted, for a check to find; "" = none
}

// String is the plan as the child reads it.
func (p plan) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (p plan) store() string   { return filepath.Join(p.Dir, "state") }
func (p plan) journal() string { return filepath.Join(p.Dir, "journal") }

func TestMain(m *testing.M) {
	text := os.Getenv(planEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	runChild(p)
}

// child is the process that drives the run.
type child struct {
	plan      plan
	scenario  scenario
	ctx       context.Context
	killPoint *killPoint
	pipe      *pipe
	journal   journal
	log       timeline.Log
	runner    *runner.Runner
}

// runChild is everything that a child does, if nothing ends it early.
func runChild(p plan) {
	c := &child{
		plan: p, scenario: scenarios[p.Scenario], ctx: context.Background(), pipe: openPipe(),
		killPoint: &killPoint{point: p.Point, n: p.Nth, late: p.Late},
	}
	if p.Fault == faultNoSync {
		c.withoutSync()
		return
	}
	store, err := sqlite.Open(c.ctx, p.store())
	c.check(err)
	c.journal, err = openJournal(p.journal())
	c.check(err)
	c.log = &killableLog{Log: store, killPoint: c.killPoint, pipe: c.pipe, slow: c.scenario.slow}
	if p.Fault != "" {
		c.log = &faultyLog{c.log, c}
	}
	c.runner = c.newRunner()
	if p.Mode == modeStart {
		c.start()
	} else {
		c.pipe.tell(wordReady)
		c.resume()
	}
	c.check(store.Close())
	c.pipe.tell(wordOver)
}

// check exits if err is not nil, since the child can only fail then.
func (c *child) check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c *child) newRunner() *runner.Runner {
	lab, err := anthropic.New(anthropic.Config{Name: "lab", BaseURL: c.plan.URL, Key: func() (string, error) { return "any", nil }})
	c.check(err)
	return runner.New(runner.WithModel(model, observed{lab, c}), runner.WithAutoRecover(!c.scenario.asks), runner.WithLog(c.log),
		runner.WithHook("steadfast", hooks.Func(c.advise)), c.tools(),
		runner.WithPolicy(func(p *recovery.Policy) { p.Budget.Tokens = maxTokens }))
}

// advise retries every failure that can be retried.
func (c *child) advise(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	c.killPoint.at("amid hook")
	switch e.Failure.Kind {
	case failure.KindToolFailure:
		return recovery.Vote{}, nil
	case failure.KindContextOverflow:
		return recovery.Vote{Action: recovery.ActionRetry, Adjust: recovery.Adjust{Compact: true}}, nil
	case failure.KindInterrupted:
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	}
	return recovery.Vote{Action: recovery.ActionRetry, Delay: failure.InMillis(c.scenario.waits)}, nil
}

// observed is the model, whose calls the parent is told about.
type observed struct {
	llm.Model
	child *child
}

func (o observed) Stream(ctx context.Context, q llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		o.child.pipe.tell(wordAsking)
		for d, err := range o.Model.Stream(ctx, q) {
			if d.Kind == llm.DeltaStart && err == nil {
				o.child.killPoint.at("first byte")
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// start begins the run and drives it until it settles.
func (c *child) start() {
	run, err := c.begin()
	c.check(err)
	c.pipe.tell(wordReady)
	c.carry(run)
}

func (c *child) begin() (*runner.Run, error) {
	return c.runner.Start(c.ctx, runner.Request{ID: runID, Prompt: "What now?", Messages: c.scenario.input})
}

// resume requests the same run again, like a caller that got no answer, and resumes what is left of
// it.
func (c *child) resume() {
	run, err := c.begin()
	if _, exists := errors.AsType[*runner.ExistsError](err); !exists {
		c.check(err)
		c.carry(run)
		return
	}
	runs, err := c.log.List(c.ctx, timeline.Query{})
	c.check(err)
	if s := runs[0]; c.plan.Mode == modeKeep && !s.Ended && !s.SuggestionOpen {
		c.keep()
	}
	run, err = c.runner.Resume(c.ctx, runID)
	c.check(err)
	c.carry(run)
}

// keep runs until one run has settled.
func (c *child) keep() {
	ctx, leave := context.WithCancel(c.ctx)
	c.check(c.runner.Keep(ctx, func(run *runner.Run) {
		c.follow(run)
		leave()
	}))
}

// carry follows a run until it settles, and answers its suggestions.
func (c *child) carry(run *runner.Run) {
	for {
		c.follow(run)
		_, err := run.Wait(context.Background())
		failed, ok := errors.AsType[*runner.Error](err)
		switch {
		case !ok && err != nil && !errors.Is(err, runner.ErrCancelled):
			c.check(err)
		case !ok || failed.Suggestion == nil || failed.Suggestion.BlockedBy != "":
			return
		}
		run, err = c.runner.Recover(c.ctx, run.ID(), runner.Answer{Suggestion: failed.Suggestion.ID, Action: recovery.ButtonRetry})
		c.check(err)
	}
}

// follow tells the parent each event that a follower of the run is shown, until the run settles.
func (c *child) follow(run *runner.Run) {
	var reactions sync.WaitGroup
	defer reactions.Wait()
	for item, err := range run.Events() {
		c.check(err)
		if item.Event == nil {
			continue
		}
		c.pipe.events(wordShown, *item.Event)
		if c.scenario.reacts != nil {
			reactions.Go(func() { c.scenario.reacts(c, *item.Event) })
		}
	}
}

// answer answers as a person; the run may have been answered before.
func (c *child) answer(run, suggestion, action string) {
	_, err := c.runner.Recover(c.ctx, run, runner.Answer{Suggestion: suggestion, Action: action})
	for _, late := range []error{recovery.ErrAnswered, recovery.ErrExpired, recovery.ErrNoSuggestion} {
		if errors.Is(err, late) {
			return
		}
	}
	c.check(err)
}
