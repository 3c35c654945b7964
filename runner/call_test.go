package runner_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// listener is a caller that records what it hears.
type listener struct {
	mu     sync.Mutex
	began  []string
	text   string
	failed []error
	shown  recovery.Shown
	takes  time.Duration // to read one delta
	heard  func(d llm.Delta)
}

func (c *listener) Began(_ uint64, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began, c.text = append(c.began, model), ""
}

func (c *listener) Heard(ctx context.Context, _ uint64, d llm.Delta) error {
	if c.takes > 0 {
		select {
		case <-time.After(c.takes):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text += d.Text
	if c.heard != nil {
		c.heard(d)
	}
	return nil
}

func (c *listener) Failed(_ uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, err)
}

func (c *listener) Shown(uint64) recovery.Shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// secret is a text of a call of which nothing may be stored.
const secret = "canary-4711"

// callOf is a call whose contents are not kept.
func callOf(r *runner.Runner, c *listener, auto bool) runner.Request {
	p := r.Policy()
	p.AutoRecover, p.Delivery, p.Keep = auto, recovery.DeliverFinal, recovery.KeepFigures
	return runner.Request{Model: primary, Policy: &p, Call: &runner.Call{
		Request: llm.Request{
			System: "You know " + secret, Messages: []llm.Message{llm.User(secret)},
			Tools: []llm.Tool{{Name: "weather", Description: secret}},
		},
		Caller: c,
	}}
}

func callsWeather(_ context.Context, hear func(llm.Delta) bool) error {
	hear(llm.Delta{Kind: llm.DeltaStart})
	hear(llm.Delta{Kind: llm.DeltaText, Text: secret})
	hear(llm.Delta{Kind: llm.DeltaCall, CallID: "c1", Name: "weather"})
	hear(llm.Delta{Kind: llm.DeltaArgs, Text: `{"city":"` + secret + `"}`})
	hear(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 10, OutputTokens: 5}})
	hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopToolUse})
	return nil
}

// TestCall: the answer to another program's call ends its run, whatever tools it calls; it
// is asked as the program asks, and what failed before is repeated by the same hook.
func TestCall(t *testing.T) {
	quoting := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, errors.New("their words"))
	quoting.Detail = "you said " + secret
	model := script(fails(secret, quoting), callsWeather)
	log := timeline.NewMemory()
	r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithHook("h", advise(retryNow)))
	c := &listener{}
	req := callOf(r, c, true)
	req.SessionKey, req.Labels = "agent-7", recovery.Labels{"tenant": "acme"}
	run, err := r.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var published strings.Builder
	for item, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(item)
		published.Write(text)
	}
	result, err := run.Wait(t.Context())
	if err != nil || result.Status != recovery.StatusCompleted || result.State.Usage.OutputTokens != 5 {
		t.Fatalf("%+v, %v", result, err)
	}
	if len(c.began) != 2 || c.text != secret+`{"city":"`+secret+`"}` {
		t.Errorf("it heard %q of %v", c.text, c.began)
	}
	if f, ok := failure.AsFailure(c.failed[0]); len(c.failed) != 1 || !ok || f.Detail != quoting.Detail {
		t.Errorf("it was told of %v", c.failed)
	}
	for _, asked := range model.calls() {
		if asked.Model != primary || asked.Messages[0].Text() != secret || len(asked.Tools) != 1 || asked.System == "" {
			t.Errorf("asked was %+v", asked)
		}
	}
	events, err := log.Read(t.Context(), run.ID(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := json.Marshal(events)
	if strings.Contains(string(kept)+published.String(), secret) {
		t.Errorf("S39: it is kept or shown what was said: %s %s", kept, &published)
	}
	if s := events[0].Body.(recovery.Started); s.Labels.String() != "mulligan/kind=proxied mulligan/session=agent-7 tenant=acme" {
		t.Errorf("it is listed by %v", s.Labels)
	}
	if s, ok := events[0].Body.(recovery.Started); !ok || s.Asked == nil || s.Asked.Bytes == 0 || s.Asked.SHA256 == "" {
		t.Errorf("of what was asked is kept %+v", events[0].Body)
	}
}

// TestI53NothingFollowsWhatWasShown: once the caller has a part of an answer, no other begins.
func TestI53NothingFollowsWhatWasShown(t *testing.T) {
	model := script(fails("part", nil), answers("another"))
	r := runner.New(runner.WithModel(primary, model), runner.WithHook("h", advise(retryNow)))
	c := &listener{shown: recovery.ShownPart}
	run, err := r.Start(t.Context(), callOf(r, c, true))
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(t.Context())
	if f := wantError(t, err, failure.KindStreamInterrupted); f.Suggestion != nil {
		t.Errorf("somebody is asked: %+v", f.Suggestion)
	}
	if n := len(model.calls()); n != 1 || c.text != "part" {
		t.Errorf("%d requests; it heard %q", n, c.text)
	}
}

// TestASlowCallerSlowsItsOwnCall: while the caller reads, nothing more is read from the model and
// no timer of the stream expires; both continue from where they stopped.
func TestASlowCallerSlowsItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead int
		stalls := func(ctx context.Context, hear func(llm.Delta) bool) error {
			for range 5 {
				hear(llm.Delta{Kind: llm.DeltaText, Text: "word "})
				ahead++
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		r := runner.New(runner.WithModel(primary, script(stalls)))
		c := &listener{takes: 10 * time.Minute}
		c.heard = func(llm.Delta) {
			if ahead > len(strings.Fields(c.text)) {
				t.Errorf("%d deltas were heard before the caller had read %q", ahead, c.text)
			}
		}
		began := time.Now()
		run, err := r.Start(t.Context(), callOf(r, c, false))
		if err != nil {
			t.Fatal(err)
		}
		_, err = run.Wait(t.Context())
		f := wantError(t, err, failure.KindTimeout)
		if took := time.Since(began); f.Failure.Timer != failure.TimerBytes || took < 51*time.Minute || took > 52*time.Minute {
			t.Errorf("%s after %v", f.Failure.Timer, took)
		}
	})
}

// TestI55ACallerThatGoesAway: its call is stopped within a second.
func TestI55ACallerThatGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left time.Time
		hangs := func(ctx context.Context, hear func(llm.Delta) bool) error {
			hear(llm.Delta{Kind: llm.DeltaText, Text: "word"})
			<-ctx.Done()
			left = time.Now()
			return context.Cause(ctx)
		}
		r := runner.New(runner.WithModel(primary, script(hangs)), runner.WithHook("h", advise(retryNow)))
		ctx, cancel := context.WithCancel(t.Context())
		run, err := r.Start(ctx, callOf(r, &listener{}, true))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		gone := time.Now()
		cancel()
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
			t.Error(err)
		}
		if took := left.Sub(gone); left.IsZero() || took > time.Second {
			t.Errorf("the provider was left after %v", took)
		}
	})
}

// TestACallThatNobodyHolds: the contents of a call that is not stored are gone with its process;
// whoever finds the run ends it as interrupted, and asks nobody anything. A call that is stored is
// continued.
func TestACallThatNobodyHolds(t *testing.T) {
	for _, keep := range []recovery.Keeping{recovery.KeepFigures, recovery.KeepContent} {
		synctest.Test(t, func(t *testing.T) {
			log := timeline.NewMemory()
			hangs := func(ctx context.Context, _ func(llm.Delta) bool) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			advised := runner.WithHook("h", advise(retryNow))
			first := runner.New(runner.WithModel(primary, script(hangs)), runner.WithLog(log), advised)
			req := callOf(first, &listener{}, true)
			req.Policy.Keep = keep
			ctx, cancel := context.WithCancelCause(t.Context())
			run, err := first.Start(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			cancel(runner.ErrLetGo)
			if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
				t.Fatal(err)
			}
			model := script(callsWeather)
			second := runner.New(runner.WithModel(primary, model), runner.WithLog(log), advised)
			again, err := second.Resume(t.Context(), run.ID())
			if err != nil {
				t.Fatal(err)
			}
			result, err := again.Wait(t.Context())
			if keep == recovery.KeepContent {
				if asked := model.calls(); err != nil || len(asked) != 1 || asked[0].Messages[0].Text() != secret || len(asked[0].Tools) != 1 {
					t.Errorf("%v after %+v", err, asked)
				}
				return
			}
			wantError(t, err, failure.KindInterrupted)
			if n := len(model.calls()); n != 0 || result.State.End.StopReason != "interrupted" {
				t.Errorf("it ended as %+v after %d requests", result.State.End, n)
			}
		})
	}
}

// TestSomebodyAnswersForTheCaller: as long as the caller waits, a person's answer continues its
// call, although nothing of the call is stored.
func TestSomebodyAnswersForTheCaller(t *testing.T) {
	model := script(fails("", overload), callsWeather)
	r := runner.New(runner.WithModel(primary, model), runner.WithHook("h", advise(retryNow)))
	c := &listener{}
	run, err := r.Start(t.Context(), callOf(r, c, false))
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(t.Context())
	wantError(t, err, failure.KindOverloaded)
	again, err := r.Recover(t.Context(), run.ID(), runner.Answer{Action: "retry"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Wait(t.Context()); err != nil || !strings.HasPrefix(c.text, secret) {
		t.Errorf("%q, %v", c.text, err)
	}
	if asked := model.calls(); len(asked) != 2 || asked[1].Messages[0].Text() != secret {
		t.Errorf("asked was %+v", asked)
	}
}

// TestWhatACallLeaves: 10,000 calls a day leave at most 2 KiB each, with what a store has beside
// their events, three models to choose from and a plugin.
func TestWhatACallLeaves(t *testing.T) {
	dir := t.TempDir()
	models := []string{"anthropic/claude-opus-4-8", "openai/gpt-5.2-codex", "openrouter/moonshotai/kimi-k2-thinking"}
	leaves := func(calls int) int64 {
		store, err := sqlite.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		options := []runner.Option{runner.WithLog(store), runner.WithHook("auto-recover", advise(retryNow))}
		for _, name := range models {
			options = append(options, runner.WithModel(name, script(callsWeather)))
		}
		r := runner.New(options...)
		begin := func() {
			req := callOf(r, &listener{}, true)
			req.Model = models[0]
			req.Policy.PinTimeouts(models[0], func(name string) recovery.Timeouts {
				limits := recovery.DefaultPolicy().Timeouts
				if name == models[2] {
					limits.FirstEvent *= 10 // it thinks silently
				}
				return limits
			})
			if run := startPatiently(t, r, req); run != nil {
				if _, err := run.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		var beside sync.WaitGroup
		for range 50 {
			beside.Go(func() {
				for range calls / 50 {
					begin()
				}
			})
		}
		beside.Wait()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		return used(t, dir)
	}
	const calls = 1000
	before := leaves(50)
	each := (leaves(calls) - before) / calls
	t.Logf("%d bytes a call", each)
	if each <= 0 || each > 2<<10 {
		t.Errorf("a call leaves %d bytes", each)
	}
}

// used is how many bytes of the store's pages are in use.
func used(t *testing.T, dir string) int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	db, err := sql.Open("sqlite", files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var pages, size int64
	row := db.QueryRowContext(t.Context(), "SELECT page_count - freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")
	if err := row.Scan(&pages, &size); err != nil {
		t.Fatal(err)
	}
	return pages * size
}

// slowRelease is a log that takes its time to give a lease back.
type slowRelease struct{ timeline.Log }

func (l slowRelease) Release(ctx context.Context, lease timeline.Lease) error {
	time.Sleep(time.Second)
	return l.Log.Release(ctx, lease)
}

// TestCallIsOverBeforeItsLease: a call returns with its answer, and does not wait until the store
// has released the lease.
func TestCallIsOverBeforeItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, script(callsWeather)), runner.WithLog(slowRelease{log}))
		run, err := r.Start(t.Context(), callOf(r, &listener{}, false))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := run.Wait(t.Context()); err != nil || time.Since(began) >= time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		time.Sleep(2 * time.Second)
		if _, err := log.Claim(t.Context(), run.ID(), "another", time.Minute); err != nil {
			t.Error("the lease is not given back:", err)
		}
	})
}
