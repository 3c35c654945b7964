package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/provider/openai"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// defaultRuns keeps `make test` quick.
const defaultRuns = 300

// TestSim plays seeds and checks the invariants after each.
func TestSim(t *testing.T) {
	if seed := os.Getenv("MULLIGAN_SIM_SEED"); seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range play(t, n) {
			t.Log(line)
		}
		return
	}
	runs := defaultRuns
	if n, err := strconv.Atoi(os.Getenv("MULLIGAN_SIM_RUNS")); err == nil {
		runs = n
	}
	var next atomic.Uint64
	var settled tally
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for worker := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(worker), func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1); seed <= uint64(runs); seed = next.Add(1) {
					settled.add(play(t, seed))
				}
			})
		}
	})
	t.Logf("%.0f runs/s; %s", float64(runs)/time.Since(began).Seconds(), settled.String())
}

// tally counts how runs came out, so that a world that became too kind is seen.
type tally struct{ runs, events, completed, failed, cancelled, suggested, accepted, resumed atomic.Int64 }

func (c *tally) add(lines []string) {
	c.runs.Add(1)
	c.events.Add(int64(len(lines)))
	for _, line := range lines {
		for word, n := range map[string]*atomic.Int64{
			"ended {\"status\":\"completed": &c.completed, "ended {\"status\":\"failed": &c.failed,
			"ended {\"status\":\"cancelled": &c.cancelled, "suggested ": &c.suggested, "accepted ": &c.accepted,
			"claimed ": &c.resumed,
		} {
			if strings.Contains(line, " "+word) {
				n.Add(1)
			}
		}
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("%d runs, %d events: %d completed, %d failed, %d cancelled; %d suggestions, %d answers, %d times claimed",
		c.runs.Load(), c.events.Load(), c.completed.Load(), c.failed.Load(), c.cancelled.Load(),
		c.suggested.Load(), c.accepted.Load(), c.resumed.Load())
}

// play runs the world of a seed in a bubble and gives its log as text. That the
// bubble ends says that no goroutine was left behind (I45).
func play(t *testing.T, seed uint64) (lines []string) {
	again := fmt.Sprintf("MULLIGAN_SIM_SEED=%d go test -race -count=20 -run Sim ./bench/sim", seed)
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("seed %d: %v\nI45? again: %s", seed, p, again))
		}
	}()
	var wrong []string
	var about string
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, seed)
		w.live()
		for _, e := range w.store.events() {
			lines = append(lines, line(e))
		}
		about, wrong = w.about, w.check()
	})
	if len(wrong) > 0 {
		t.Errorf("seed %d (plugins:%s):\n%s\n\n%s\nagain: %s", seed, about,
			strings.Join(wrong, "\n"), strings.Join(lines, "\n"), again)
	}
	return lines
}

func line(e recovery.Event) string {
	data, err := e.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	_, body, _ := strings.Cut(string(data), `"data":`)
	return fmt.Sprintf("%4d %s %s %s", e.Seq, e.Time.Format("02T15:04:05.000"), e.Type(), recovery.Clip(body, 300))
}

// world is everything around one run.
type world struct {
	t       *testing.T
	dice    *dice
	about   string
	lab     *faultlab.Lab
	server  *http.Server
	store   *store
	journal journal
	runner  *runner.Runner
	desk    *runner.Runner // of another process
	screen  *screen
	last    *recovery.Run // the state that the runner came to
	flying  atomic.Int32  // model calls
	started bool

	mu    sync.Mutex
	wrong []string
}

func newWorld(t *testing.T, seed uint64) *world {
	d := newDice(seed, 0)
	w := &world{t: t, dice: d, lab: faultlab.New(), screen: &screen{}}
	w.store = &store{Memory: timeline.NewMemory(), dice: newDice(seed, 1)}
	if d.chance(0.5) {
		w.store.before, w.store.after, w.store.slow = 0.03, 0.03, 0.03
	}
	if d.chance(0.2) {
		from := 2 + d.n(20)
		w.store.outage = [2]int{from, from + 1 + d.n(14)}
	}
	options := append(w.models(seed), runner.WithPolicy(d.policy), runner.WithHealth(health.New()))
	if d.chance(0.7) {
		options = append(options, runner.WithTools(w.tool("lookup", recovery.SafetyIdempotent), w.tool("charge", recovery.SafetyUnsafe)))
	}
	for i := range d.n(4) {
		kind, hook := newDice(seed, uint64(100+i)).adviser()
		w.about += " " + kind
		options = append(options, runner.WithHook(fmt.Sprintf("%s-%d", kind, i), hook))
	}
	w.runner = runner.New(append(options, runner.WithLog(w.store))...)
	w.desk = runner.New(append(options, runner.WithLog(elsewhere{w.store.Memory}))...)
	return w
}

// models starts the provider and makes two or three models on its wires.
func (w *world) models(seed uint64) []runner.Option {
	listener := faultlab.NewMemListener()
	w.server = &http.Server{Handler: http.HandlerFunc(w.serve)}
	go w.server.Serve(listener)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.Dial(ctx) }
	key := func() (string, error) { return "sk-simulated-0123456789", nil }
	one, err := anthropic.New(anthropic.Config{Key: key, BaseURL: "http://127.0.0.1:1", DialContext: dial})
	if err != nil {
		w.t.Fatal(err)
	}
	two, err := openai.New(openai.Config{Key: key, BaseURL: "http://127.0.0.1:2/v1", DialContext: dial})
	if err != nil {
		w.t.Fatal(err)
	}
	names := []string{"anthropic/fable", "openai/atlas", "anthropic/verse"}[:2+w.dice.n(2)]
	if w.dice.chance(0.5) {
		names[0], names[1] = names[1], names[0]
	}
	var options []runner.Option
	for i, name := range names {
		entry, model, _ := strings.Cut(name, "/")
		w.lab.Script(model, newDice(seed, uint64(10+i)).script(true)...)
		adapter := llm.Model(one)
		if entry == "openai" {
			adapter = two
		}
		options = append(options, runner.WithModel(name, counted{w, adapter}))
	}
	return options
}

// serve checks that the intent of a request is durable when it arrives.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	run, err := recovery.Fold(w.store.events())
	if asked := len(w.lab.Requests()); err != nil || uint64(asked) >= run.Attempts {
		w.complain("I06: request %d arrives and %d attempts were begun (%v)", asked+1, run.Attempts, err)
	}
	w.lab.ServeHTTP(rw, r)
}

// counted is a model of which one call at a time may be in the air.
type counted struct {
	w *world
	llm.Model
}

func (c counted) Stream(ctx context.Context, q llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if n := c.w.flying.Add(1); n > 1 {
			c.w.complain("I10: %d model calls in the air", n)
		}
		defer c.w.flying.Add(-1)
		c.Model.Stream(ctx, q)(yield)
	}
}

// tool notes each execution and does nothing for a while.
func (w *world) tool(name string, safety recovery.Safety) runner.Tool {
	d := newDice(uint64(w.dice.n(1<<30)), 50)
	return runner.Tool{Name: name, Safety: safety, Run: func(ctx context.Context, call runner.ToolCall) (string, error) {
		x := execution{call: call.ID, tool: name, key: call.IdempotencyKey, at: time.Now()}
		for _, e := range w.store.events() {
			switch b := e.Body.(type) {
			case recovery.ToolBegan:
				x.known = x.known || b.CallID == call.ID
			case recovery.ToolReturned:
				x.done = x.done || b.CallID == call.ID
			}
		}
		w.journal.add(x)
		switch d.n(10) {
		case 0:
			return "", errors.New("it did not work")
		case 1:
			if d.chance(0.3) {
				panic("the tool broke")
			}
			time.Sleep(d.duration(8 * time.Second)) // deaf to ctx
		case 2, 3, 4:
			select {
			case <-time.After(d.duration(30 * time.Second)):
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		return name + " is done", nil
	}}
}

func (w *world) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// live carries the run as far as it gets, then closes everything.
func (w *world) live() {
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	if run, err := w.runner.Start(ctx, runner.Request{Prompt: "What should I wear in Oslo today?"}); err != nil {
		if !errors.Is(err, errStore) {
			w.complain("the run did not start: %v", err)
		}
		close(watched)
	} else {
		w.started = true
		go w.watch(ctx, run.ID(), watched)
		w.person(ctx, run)
	}
	time.Sleep(time.Minute) // for the deaf
	cancel()
	<-watched
	if err := errors.Join(w.lab.Close(), w.server.Close()); err != nil {
		w.complain("it did not close: %v", err)
	}
	synctest.Wait()
}

func (w *world) watch(ctx context.Context, run string, watched chan struct{}) {
	defer close(watched)
	for item, err := range w.store.Follow(ctx, run, 0) {
		if err != nil {
			w.complain("follow: %v", err)
			return
		}
		w.screen.show(item)
	}
}

// person waits for the run and answers it, a few times.
func (w *world) person(ctx context.Context, run *runner.Run) {
	d := w.dice
	for patience := 3 + d.n(4); ; {
		err := w.attend(ctx, run)
		failed, isFailed := errors.AsType[*runner.Error](err)
		switch {
		case err == nil, errors.Is(err, runner.ErrCancelled):
			return
		case isFailed && failed.Suggestion == nil:
			return
		case isFailed:
			if patience--; patience < 0 {
				return
			}
			if run = w.answer(ctx, failed); run == nil {
				return
			}
			continue
		case errors.Is(err, runner.ErrParked):
			if wait := w.last.Wait; wait != nil {
				time.Sleep(time.Until(wait.Until))
			}
		case !errors.Is(err, errStore):
			w.complain("the run stopped: %v", err)
		}
		if run = w.resume(ctx, run.ID()); run == nil {
			return
		}
	}
}

// attend waits for the run to settle, or cuts it short at some moment.
func (w *world) attend(ctx context.Context, run *runner.Run) error {
	settled := make(chan error, 1)
	go func() {
		result, err := run.Wait()
		w.last = result.State
		settled <- err
	}()
	impatient := time.Duration(1 << 62)
	if w.dice.chance(0.2) {
		impatient = w.dice.duration(2 * time.Minute)
	}
	const forever = 100 * time.Hour
	select {
	case err := <-settled:
		return err
	case <-time.After(min(impatient, forever)):
	}
	if impatient > forever {
		w.complain("I01: the run did not settle in %s", forever)
	}
	asked := time.Now()
	if w.dice.chance(0.5) {
		run.Cancel()
	} else if w.meddle(ctx, run.ID()) {
		return <-settled
	}
	err := <-settled
	// Grace for effects that do not end, and for what was in the way of the write.
	if took, limit := time.Since(asked), 4500*time.Millisecond+w.store.slack(asked); took > limit {
		w.complain("I22: cancelled, and settled %s later", took)
	}
	return err
}

// meddle does something from another process; it reports whether that was no cancel.
func (w *world) meddle(ctx context.Context, run string) bool {
	if state, err := w.desk.Inspect(ctx, run); err == nil && state.Wait != nil && len(state.Wait.Actions) > 0 && w.dice.chance(0.7) {
		_, err := w.desk.Recover(ctx, run, runner.Answer{Action: pick(w.dice, state.Wait.Actions...).ID})
		if !errors.Is(err, runner.ErrSent) && !errors.Is(err, recovery.ErrNoSuggestion) && !errors.Is(err, recovery.ErrExpired) {
			w.complain("answering a wait from elsewhere: %v", err)
		}
		return true
	}
	if err := w.desk.Cancel(ctx, run); err != nil {
		w.complain("a cancel from elsewhere: %v", err)
	}
	return false
}

// answer answers a suggestion; nil if the person leaves it at that.
func (w *world) answer(ctx context.Context, failed *runner.Error) *runner.Run {
	d := w.dice
	switch d.n(10) {
	case 0:
		return nil
	case 1:
		if err := w.runner.Cancel(ctx, failed.Run); err != nil && !errors.Is(err, errStore) {
			w.complain("cancel of a suggestion: %v", err)
		} else if err != nil {
			return w.resume(ctx, failed.Run)
		}
		return nil
	case 2:
		time.Sleep(time.Until(failed.Suggestion.ExpiresAt) + time.Minute)
		if _, err := w.runner.Recover(ctx, failed.Run, runner.Answer{Action: recovery.ButtonStop}); !errors.Is(err, recovery.ErrExpired) && !errors.Is(err, errStore) {
			w.complain("I18: an answer after the expiry: %v", err)
		}
		return nil
	}
	time.Sleep(d.duration(2 * time.Hour))
	var actions []string
	for _, b := range failed.Suggestion.Actions {
		if b.Effect == recovery.EffectRunner {
			actions = append(actions, b.ID)
		}
	}
	a := runner.Answer{Suggestion: failed.Suggestion.ID, Action: pick(d, actions...)}
	run, err := w.runner.Recover(ctx, failed.Run, a)
	if err != nil {
		if !errors.Is(err, errStore) {
			w.complain("the answer %+v: %v", a, err)
			return nil
		}
		return w.resume(ctx, failed.Run)
	}
	return run
}

// resume goes on with a run that stopped, until the store lets it.
func (w *world) resume(ctx context.Context, id string) *runner.Run {
	for range 20 {
		time.Sleep(w.dice.duration(time.Minute))
		run, err := w.runner.Resume(ctx, id)
		if err == nil {
			return run
		}
		if !errors.Is(err, errStore) {
			w.complain("resume: %v", err)
			return nil
		}
	}
	w.complain("resume: the store does not recover")
	return nil
}
