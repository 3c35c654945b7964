package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// world is everything around one run.
type world struct {
	t        *testing.T
	recipe   recipe
	dice     *dice
	over     chan struct{} // closed when the world ends
	lab      *faultlab.Lab
	server   *http.Server
	adapters map[string]llm.Model // by wire
	names    []string             // of the models
	asked    atomic.Uint64        // requests that the provider received
	health   *health.Health
	policy   recovery.Policy
	advisers []hooks.Named
	about    string // a description of its plugins
	hasTools bool
	toolDice [2]*dice
	disk     *disk
	journal  journal
	screen   *screen
	env      environment
	last     *recovery.Run // the state that a runner last returned

	mu        sync.Mutex
	wrong     []string
	processes []*process
}

func newWorld(t *testing.T, r recipe) *world {
	d := newDice(r.seed, diceWorld)
	w := &world{
		t: t, recipe: r, dice: d, over: make(chan struct{}), lab: faultlab.New(), adapters: map[string]llm.Model{},
		health: health.New(), policy: recovery.DefaultPolicy(), disk: newDisk(r), screen: &screen{},
		toolDice: [2]*dice{newDice(r.seed, diceTools), newDice(r.seed, diceTools+1)},
	}
	w.disk.checker = newChecker(w)
	w.names = w.models()
	d.policy(&w.policy)
	w.hasTools = d.chance(0.7) && r.has(partTools)
	for i := range d.n(4) {
		kind, hook := w.adviser(newDice(r.seed, uint64(dicePlugins+i))) //nolint:gosec // a few plugins
		if r.has(partPlugins) {
			w.about += " " + kind
			w.advisers = append(w.advisers, hooks.Named{Name: fmt.Sprintf("%s-%d", kind, i), Hook: hook})
		}
	}
	w.serve()
	return w
}

// policy draws limits. There is always a timeout that ends a silent stream.
func (d *dice) policy(p *recovery.Policy) {
	const second, minute, hour = failure.Millis(1000), failure.Millis(60_000), failure.Millis(3_600_000)
	p.AutoRecover = d.chance(0.7)
	p.MaxRetries = d.n(7)
	p.Timeouts.FirstEvent = pick(d, 2*second, 30*second)
	p.Timeouts.Bytes = pick(d, 5*second, 60*second)
	p.Timeouts.Idle = pick(d, 0, 10*second, 120*second)
	p.Timeouts.Step = pick(d, 0, 0, 20*second, 5*minute)
	p.Timeouts.MaxTurn = pick(d, 0, 48*hour, 48*hour, 40*second, 5*minute)
	p.Timeouts.Run = pick(d, 0, 48*hour, 48*hour, 48*hour, 3*minute)
	p.Timeouts.Tool = pick(d, 3*second, 10*minute)
	if p.Timeouts.Idle == 0 && p.Timeouts.Step == 0 && p.Timeouts.MaxTurn == 0 {
		p.Timeouts.Idle = 10 * minute // a stream that only sends pings is not idle
	}
	if d.chance(0.1) {
		p.Budget.Tokens = int64(20 + d.n(300))
	}
}

// options are the options of the runner in process p.
func (w *world) options(p *process) []runner.Option {
	options := []runner.Option{
		runner.WithPolicy(func(to *recovery.Policy) { *to = w.policy }),
		runner.WithHealth(w.health), runner.WithLog(p), runner.WithConnectivity(&w.env),
		runner.WithClock(w.env.wall), runner.WithSleep(w.env.sleeping), runner.WithLogger(slog.New(slog.NewTextHandler(listener{w}, nil))),
	}
	for _, full := range w.names {
		wire, _, _ := strings.Cut(full, "/")
		options = append(options, runner.WithModel(full, calling{p, w.adapters[wire]}))
	}
	if w.hasTools {
		options = append(options, w.tools(p))
	}
	for _, h := range w.advisers {
		options = append(options, runner.WithHook(h.Name, h.Hook))
	}
	return options
}

// listener checks what a runner logs.
type listener struct{ w *world }

func (l listener) Write(line []byte) (int, error) {
	if strings.Contains(string(line), canary) {
		l.w.complain("I21: the log tells the key: %s", line)
	}
	return len(line), nil
}

// serve starts the provider on an in-memory network.
func (w *world) serve() {
	pipes := faultlab.NewMemListener()
	w.server = &http.Server{Handler: http.HandlerFunc(w.answer), ErrorLog: log.New(io.Discard, "", 0)} //nolint:gosec // it has one client
	go w.server.Serve(pipes)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if w.env.Offline(ctx, nil) {
			return nil, unreachable("dial")
		}
		conn, err := pipes.Dial(ctx)
		return envConn{conn, &w.env}, err
	}
	for _, full := range w.names {
		wire, _, _ := strings.Cut(full, "/")
		if w.adapters[wire] != nil {
			continue
		}
		adapter, err := wires[wire](dial)
		if err != nil {
			w.t.Fatal(err)
		}
		w.adapters[wire] = adapter
	}
}

// answer checks that the intent of a request is durable when the request arrives.
func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	asked := w.asked.Add(1)
	w.disk.look(func(_ []recovery.Event, run *recovery.Run) {
		if begun := run.Attempts + w.disk.checker.summaries + w.askedAgain(); asked > begun {
			w.complain("I06: request %d arrives and %d calls were begun", asked, begun)
		}
	})
	w.lab.ServeHTTP(rw, r)
}

// askedAgain counts the requests that were refused because of the model's own reasoning in them.
// Each was repeated without it within the same attempt.
func (w *world) askedAgain() (n uint64) {
	for _, r := range w.lab.Requests() {
		row, _, _ := strings.Cut(strings.TrimPrefix(r.Step, "row:"), "-")
		if r.Status == http.StatusBadRequest && (row == "G14" || row == "O25") {
			n++
		}
	}
	return n
}

func (w *world) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// run drives the run until it settles, then ends the world.
func (w *world) run() {
	ctx, cancel := context.WithCancel(context.Background())
	p := &person{w: w, dice: newDice(w.recipe.seed, dicePerson), crashes: newDice(w.recipe.seed, diceCrashes), cuts: newDice(w.recipe.seed, diceCuts), moves: newDice(w.recipe.seed, diceMachines), deploys: newDice(w.recipe.seed, diceDeploys)}
	go w.change(ctx)
	watched := w.watch(ctx, p)
	time.Sleep(5 * time.Minute) // for tools that ignore their context, paused processes, and unwritten events
	cancel()
	close(w.over)
	time.Sleep(time.Minute)
	<-watched
	if err := errors.Join(w.lab.Close(), w.server.Close(), w.disk.close()); err != nil {
		w.complain("it did not close: %v", err)
	}
	synctest.Wait()
}

// mostTurns is more turns than any run needs.
const mostTurns = 200

// watch starts the person, and follows the run from its first event.
func (w *world) watch(ctx context.Context, p *person) (watched chan struct{}) {
	watched = make(chan struct{})
	run := p.start(ctx)
	name := w.disk.name()
	if name == "" || w.neverBegan() {
		close(watched)
		return watched
	}
	go func() {
		defer close(watched)
		w.screen.follow(ctx, w, name)
	}()
	go blockedFollower(ctx, w, name)
	for turns := 0; run != nil; turns++ {
		if turns == mostTurns {
			w.complain("I01: the run was gone on with %d times, and has not settled", turns)
			break
		}
		run = p.next(ctx, run)
	}
	return watched
}

// neverBegan reports whether the run's first event was never durable.
func (w *world) neverBegan() (neverBegan bool) {
	w.disk.look(func(events []recovery.Event, _ *recovery.Run) { neverBegan = len(events) == 0 })
	return neverBegan
}

// blockedFollower takes one item and then reads no more. It must not delay anybody.
func blockedFollower(ctx context.Context, w *world, run string) {
	for range w.disk.open(time.Now).Follow(ctx, run, 0) {
		<-w.over
	}
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(data)
}
