package runner_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// say runs the next message of session s.
func say(t *testing.T, r *runner.Runner, prompt string) runner.Result {
	t.Helper()
	run, err := r.Start(t.Context(), runner.Request{Prompt: prompt, Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	result, _ := run.Wait(t.Context())
	return result
}

// heard is what a request says, one word per message: "user: hi", "assistant: …", "tool: …".
func heard(req llm.Request) string {
	var said []string
	for _, m := range req.Messages {
		text := m.Text()
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				text += "→" + p.Call.ID
			case p.Result != nil:
				text += p.Result.CallID + "=" + p.Result.Text
			}
		}
		said = append(said, string(m.Role)+": "+text)
	}
	return strings.Join(said, "; ")
}

func TestASessionCarriesOn(t *testing.T) {
	model := script(callsTool("c1", "look", `{}`), answers("one"), answers("two"), answers("three"))
	look := runner.Tool{Name: "look", Run: func(context.Context, runner.ToolCall) (string, error) { return "seen", nil }}
	log := timeline.NewMemory()
	process := func() *runner.Runner {
		return runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithTools(look))
	}
	first, second := say(t, process(), "a"), say(t, process(), "b")
	third := say(t, process(), "c")
	want := "user: a; assistant: →c1; tool: c1=seen; assistant: one; user: b; assistant: two; user: c"
	if got := heard(model.calls()[3]); got != want {
		t.Errorf("the third message sent %q, want %q", got, want)
	}
	if s := third.State; third.Text != "three" || s.Carried != 6 || !reflect.DeepEqual(s.Continues, &recovery.Head{Run: second.Run, Seq: second.State.Seq}) {
		t.Errorf("%+v continues %+v", third, s.Continues)
	}
	events, err := log.Read(t.Context(), second.Run, 0, 0)
	if err != nil || len(events[0].Body.(recovery.Started).Input) != 1 {
		t.Errorf("its events copy what it continues: %+v, %v", events[0], err)
	}
	for _, result := range []runner.Result{first, second, third} {
		if got, err := process().Inspect(t.Context(), result.Run); err != nil || !reflect.DeepEqual(got.Messages, result.State.Messages) {
			t.Errorf("another process folds %+v, %v; want %+v", got, err, result.State)
		}
	}
}

// TestAContinuedRunGoesOnElsewhere lets go of a run in mid-air; the next process asks the
// same again.
func TestAContinuedRunGoesOnElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(answers("one"), stalls("par"), answers("two"))
		log := timeline.NewMemory()
		process := func() *runner.Runner {
			return runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		}
		r := process()
		say(t, r, "a")
		ctx, letGo := context.WithCancelCause(t.Context())
		run, err := r.Start(ctx, runner.Request{Prompt: "b", Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		letGo(runner.ErrLetGo)
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
			t.Fatal(err)
		}
		if _, err := process().Start(t.Context(), runner.Request{Prompt: "c", Session: "s"}); !errors.Is(err, runner.ErrSessionBusy) {
			t.Errorf("a message beside a run that nobody drives: %v", err)
		}
		again, err := process().Resume(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		if result, err := again.Wait(t.Context()); err != nil || result.Text != "two" {
			t.Fatalf("got %+v, %v", result, err)
		}
		calls := model.calls()
		if want := "user: a; assistant: one; user: b"; heard(calls[1]) != want || heard(calls[2]) != want {
			t.Errorf("asked %q, and elsewhere %q", heard(calls[1]), heard(calls[2]))
		}
	})
}

// TestASessionGoesOnAfterWhatWentWrong: of a run that was cancelled or failed, the next one
// says what a model may hear: never partial text, and a result for every call.
func TestASessionGoesOnAfterWhatWentWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(stalls("partial"), callsTool("c1", "hang", `{}`), fails("partial", overload), answers("fine"))
		hang := runner.Tool{Name: "hang", Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
		r := runner.New(runner.WithModel(primary, model), runner.WithTools(hang))
		for _, prompt := range []string{"a", "b"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			run, err := r.Start(ctx, runner.Request{Prompt: prompt, Session: "s"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
				t.Fatal(err)
			}
			cancel()
		}
		say(t, r, "c")
		say(t, r, "d")
		got := heard(model.calls()[3])
		if !strings.HasPrefix(got, "user: a; assistant: partial\n\n"+recovery.Interrupted+"; user: b; assistant: →c1; tool: c1=The outcome of this call is unknown") ||
			!strings.HasSuffix(got, "; user: c; user: d") {
			t.Errorf("it sent %q", got)
		}
	})
}

func TestTheNextMessageSupersedesASuggestion(t *testing.T) {
	model := script(fails("", overload), answers("two"))
	log := timeline.NewMemory()
	r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithHook("h", advise(retryNow)))
	failed := say(t, r, "a")
	if !failed.State.SuggestionOpen() {
		t.Fatalf("got %+v", failed)
	}
	next := say(t, r, "b")
	if next.Text != "two" || heard(model.calls()[1]) != "user: a; user: b" {
		t.Errorf("got %+v after %q", next, heard(model.calls()[1]))
	}
	if old, err := r.Inspect(t.Context(), failed.Run); err != nil || old.End == nil || old.Status != recovery.StatusFailed {
		t.Errorf("the run before it: %+v, %v", old, err)
	}
	const said = "a is overloaded. Its servers are full; this is not your usage limit."
	wantLines(t, log, failed.Run, said, said+" Actions: 1 Retry, 2 Stop", "The next message took this suggestion's place.")
	if _, err := r.Recover(t.Context(), failed.Run, runner.Answer{Action: "retry"}); !errors.Is(err, recovery.ErrExpired) {
		t.Errorf("a superseded suggestion was answered: %v", err)
	}
}

// TestOneRunOfASessionAtATime starts many at once, in many processes.
func TestOneRunOfASessionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		model := script(fails("", overload), stalls("par"))
		process := func(n int) *runner.Runner {
			return runner.New(runner.WithModel(primary, model), runner.WithLog(tenant{log, fmt.Sprint("p", n)}), runner.WithHook("h", advise(retryNow)))
		}
		failed := say(t, process(0), "a") // its suggestion is open: it has to be superseded first
		ctx, cancel := context.WithCancel(t.Context())
		var won atomic.Int32
		var all sync.WaitGroup
		for n := range 16 {
			all.Go(func() {
				run, err := process(n).Start(ctx, runner.Request{Prompt: "b", Session: "s"})
				switch {
				case err == nil:
					won.Add(1)
					_, _ = run.Wait(t.Context())
				case !errors.Is(err, runner.ErrSessionBusy):
					t.Error(err)
				}
			})
		}
		time.Sleep(10 * time.Second)
		if n := won.Load(); n != 1 {
			t.Errorf("%d runs of a session at once", n)
		}
		cancel()
		all.Wait()
		list, err := log.List(t.Context(), timeline.Query{Session: "s"})
		if err != nil || len(list) != 2 || list[1].Run != failed.Run || !list[1].Ended {
			t.Errorf("the session has %+v, %v", list, err)
		}
	})
}

func TestWhatASessionStartsWith(t *testing.T) {
	on, off := true, false
	known := health.New()
	log := timeline.NewMemory()
	one, two := script(fails("", overload), answers("one")), script(answers("two"))
	r := runner.New(runner.WithModel(primary, one), runner.WithModel(secondary, two), runner.WithLog(log), runner.WithHealth(known),
		runner.WithHook("h", advise(recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: secondary})),
		runner.WithTimeouts(recovery.Settings{failure.TimerIdle: 7_000, failure.TimerRun: 70_000, failure.TimerTool: 3_000}))
	start := func(req runner.Request) *recovery.Run {
		t.Helper()
		req.Prompt = "hi"
		req.Session = "s"
		run, err := r.Start(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		result, _ := run.Wait(t.Context())
		return result.State
	}
	session := timeline.Session{ID: "s", AutoRecover: &on, Timeouts: recovery.Settings{failure.TimerIdle: 8_000, failure.TimerRun: 80_000}}
	if err := log.SetSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	run := start(runner.Request{Model: primary, Timeouts: recovery.Settings{failure.TimerRun: 90_000}})
	if limits := run.Policy.Timeouts; limits.Idle != 8_000 || limits.Run != 90_000 || limits.Tool != 3_000 || !run.Policy.AutoRecover {
		t.Errorf("timers %+v, autoRecover %v", limits, run.Policy.AutoRecover)
	}
	if run.Model != secondary || run.Status != recovery.StatusCompleted {
		t.Errorf("it was not switched: %+v", run)
	}
	if s, err := log.Session(t.Context(), "s"); err != nil || s.Model != primary || s.AutoRecover == nil {
		t.Errorf("the session: %+v, %v", s, err)
	}
	if run := start(runner.Request{}); run.Chosen != primary || run.Model != secondary || run.Status != recovery.StatusCompleted || run.Attempts != 1 {
		t.Errorf("while its model cools down the next run asks %s in the place of %s: %s after %d requests", run.Model, run.Chosen, run.Status, run.Attempts)
	}
	asked := start(runner.Request{AutoRecover: &off})
	if s := asked.Suggestion; !asked.SuggestionOpen() || asked.Attempts != 0 || s.SuggestedAction != recovery.ActionSwitchModel || s.NewModel != secondary || s.Error.Title != "one is cooling down" {
		t.Errorf("without autoRecover nobody is asked: %d requests, %+v", asked.Attempts, s)
	}
	if run := start(runner.Request{Model: primary}); run.Chosen != primary {
		t.Errorf("a person's choice is %s", run.Chosen)
	}
	known.Succeeded(primary)
	if run := start(runner.Request{}); run.Chosen != primary {
		t.Errorf("the next run starts with %s", run.Chosen)
	}
	if run := start(runner.Request{Model: secondary}); run.Chosen != secondary {
		t.Errorf("a run's own choice is %s", run.Chosen)
	}
	if run := start(runner.Request{}); run.Chosen != primary {
		t.Errorf("after it the next run starts with %s", run.Chosen)
	}
	if _, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Session: "no spaces"}); err == nil {
		t.Error("a session of any name")
	}
}

// TestWhatWasShortenedStaysSo: the runs after one that was shortened begin with the summary.
func TestWhatWasShortenedStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(answers("first"), fails("", tooLong), answers("They talked."), answers("second"), answers("third"))
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithAutoRecover(true), runner.WithHook("h", advise(shorten)))
		run, err := r.Start(t.Context(), runner.Request{Messages: conversation(20, 1000), Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := say(t, r, "b")
		if told := model.calls()[2].Messages[0].Text(); !strings.Contains(told, "user: question 0") {
			t.Errorf("the summary is not of what it continues: %.200s", told)
		}
		third := say(t, r, "c")
		last := model.calls()[4].Messages
		if !strings.Contains(last[0].Text(), "They talked.") || last[len(last)-2].Text() != "second" || last[len(last)-1].Text() != "c" || len(last) > 20 {
			t.Errorf("it begins with %q and has %d messages", last[0].Text(), len(last))
		}
		for _, result := range []runner.Result{second, third} {
			if got, err := r.Inspect(t.Context(), result.Run); err != nil || !reflect.DeepEqual(got.Messages, result.State.Messages) {
				t.Errorf("it folds to %d messages, %v; want %d", len(got.Messages), err, len(result.State.Messages))
			}
		}
	})
}

// counting counts the events that are read of a log.
type counting struct {
	*timeline.Journal
	mu  sync.Mutex
	n   int
	off bool // it has no snapshots
}

func (c *counting) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	events, err := c.Journal.Read(ctx, run, after, limit)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += len(events)
	return events, err
}

func (c *counting) LoadSnapshot(ctx context.Context, run string) (uint64, []byte, error) {
	if c.off {
		return 0, nil, nil
	}
	return c.Journal.LoadSnapshot(ctx, run)
}

// TestALongRunIsReadFromItsSnapshot: also by a process that did not save it, and by the runs that
// continue it; it comes to what folding gives.
func TestALongRunIsReadFromItsSnapshot(t *testing.T) {
	const rounds = 500
	var steps []step
	for i := range rounds {
		steps = append(steps, callsTool(fmt.Sprint("c", i), "look", `{}`))
	}
	model := script(append(steps, answers("one"), answers("two"))...)
	look := runner.Tool{Name: "look", Run: func(context.Context, runner.ToolCall) (string, error) { return "seen", nil }}
	log := &counting{Journal: timeline.NewMemory()}
	r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithTools(look),
		runner.WithPolicy(func(p *recovery.Policy) { p.MaxRounds = 0 }))
	first := say(t, r, "a")
	second := say(t, r, "b")
	for _, result := range []runner.Result{first, second} {
		var got [2]*recovery.Run
		var read [2]int
		for i, off := range []bool{false, true} {
			log.off, log.n = off, 0
			var err error
			if got[i], err = r.Inspect(t.Context(), result.Run); err != nil {
				t.Fatal(err)
			}
			read[i] = log.n
		}
		if read[0] > 20 || read[1] < 4*rounds || !slices.Equal(texts(got[0]), texts(got[1])) || got[0].Seq != got[1].Seq {
			t.Errorf("with a snapshot %d events are read, without %d: %d and %d messages", read[0], read[1], len(got[0].Messages), len(got[1].Messages))
		}
	}
}

func texts(r *recovery.Run) []string {
	var list []string
	for _, m := range r.Messages {
		list = append(list, heard(llm.Request{Messages: []llm.Message{m}}))
	}
	return list
}

// TestADamagedSessionEnds: runs that continue each other in a ring are no endless conversation.
func TestADamagedSessionEnds(t *testing.T) {
	log := timeline.NewMemory()
	for _, run := range [][2]string{{"r1", "r2"}, {"r2", "r1"}} {
		lease, err := log.Claim(t.Context(), run[0], "o", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		started := recovery.Started{Model: primary, Input: []llm.Message{llm.User("hi")}, Session: "s" + run[0], Continues: &recovery.Head{Run: run[1], Seq: 1}}
		if err := log.Append(t.Context(), lease, 0, recovery.Event{Run: run[0], Seq: 1, Time: time.Now(), Body: started}); err != nil {
			t.Fatal(err)
		}
	}
	r := runner.New(runner.WithModel(primary, script(answers("hi"))), runner.WithLog(log))
	if _, err := r.Inspect(t.Context(), "r1"); !errors.Is(err, timeline.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

// TestALongConversationIsReadFromASnapshot: not run by run, and it is the same.
func TestALongConversationIsReadFromASnapshot(t *testing.T) {
	const turns = 100
	log := &counting{Journal: timeline.NewMemory()}
	r := runner.New(runner.WithModel(primary, script(answers("yes"))), runner.WithLog(log))
	var last runner.Result
	for i := range turns {
		last = say(t, r, fmt.Sprint("question ", i))
	}
	var got [2][]string
	var read [2]int
	for i, off := range []bool{false, true} {
		log.off, log.n = off, 0
		run, err := r.Inspect(t.Context(), last.Run)
		if err != nil {
			t.Fatal(err)
		}
		got[i], read[i] = texts(run), log.n
	}
	if len(got[0]) != 2*turns || !slices.Equal(got[0], got[1]) || read[0] > read[1]/2 {
		t.Errorf("%d messages of %d events, without snapshots %d of %d", len(got[0]), read[0], len(got[1]), read[1])
	}
}

// TestAStoppedAnswerIsKept: what a model had said when a person stopped it, in mid-air or by
// the button, is in the next request of the session, and says that it was interrupted. Of an
// answer without text nothing is kept, nor said to be.
func TestAStoppedAnswerIsKept(t *testing.T) {
	overload := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, nil)
	for name, tt := range map[string]struct {
		step step
		want string
	}{
		"in mid-air":               {stalls("It is rai"), "user: a; assistant: It is rai\n\n" + recovery.Interrupted + "; user: b"},
		"by the button":            {fails("It is rai", overload), "user: a; assistant: It is rai\n\n" + recovery.Interrupted + "; user: b"},
		"in mid-air, without text": {stalls(""), "user: a; user: b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, log := script(tt.step, answers("two")), timeline.NewMemory()
				process := func() *runner.Runner {
					return runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithHook("h", advise(retryNow)))
				}
				r := process()
				run, err := r.Start(t.Context(), runner.Request{Prompt: "a", Session: "s"})
				if err != nil {
					t.Fatal(err)
				}
				if name == "by the button" {
					_, _ = run.Wait(t.Context())
					run, err = r.Recover(t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonStop})
					if err != nil {
						t.Fatal(err)
					}
				} else {
					time.Sleep(time.Second)
					run.Cancel()
				}
				result, _ := run.Wait(t.Context())
				events, err := log.Read(t.Context(), run.ID(), 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				said := events[len(events)-1].Text
				if kept := strings.Contains(said, "kept"); kept != (result.Text != "") || result.Status != recovery.StatusCancelled {
					t.Errorf("of %q, %s, people read %q", result.Text, result.Status, said)
				}
				say(t, process(), "b")
				if got := heard(model.calls()[1]); got != tt.want {
					t.Errorf("the next message sent\n%q, want\n%q", got, tt.want)
				}
			})
		})
	}
}
