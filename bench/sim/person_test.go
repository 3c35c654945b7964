package sim

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	forever  = 100 * time.Hour
	leaseTTL = 15 * time.Second // the runner's
	// handover is how long it may take until another process owns the run of one that died (I36).
	handover = leaseTTL + 5*time.Second
)

// person starts the run, waits for it and answers its suggestions a few times. When a process dies,
// the person starts another one.
type person struct {
	w           *world
	dice        *dice
	crashes     *dice
	cuts        *dice
	moves       *dice   // with several machines: which process is next
	deploys     *dice   // when processes are told to end
	crashRate   float64 // how likely the next process crashes
	answersLeft int     // how many more suggestions the person answers
	at          *process
}

func (h *person) start(ctx context.Context) *runner.Run {
	h.answersLeft = 3 + h.dice.n(4)
	if rate := pick(h.crashes, 0, 0, 0.4, 0.4, 0.9); h.w.recipe.has(partCrashes) {
		h.crashRate = rate
	}
	h.at = h.w.spawn(h.crashes.crashPlan(h.crashRate))
	run, err := within(h.at, func() (*runner.Run, error) {
		return h.at.runner.Start(h.at.under(ctx), runner.Request{Prompt: "What should I wear in Oslo today?"})
	})
	switch {
	case err == nil:
		return run
	case errors.Is(err, errDied) && !h.w.neverBegan():
		return h.takeOver(ctx, nil)
	case !errors.Is(err, errDied) && !unwritten(err):
		h.w.complain("I32: the run did not start: %v", err)
	case unwritten(err) && !h.w.neverBegan():
		return h.resume(ctx)
	}
	return nil
}

// next continues after run has settled or its process has gone; nil if nobody continues.
func (h *person) next(ctx context.Context, run *runner.Run) *runner.Run {
	err := h.attend(ctx, run)
	if h.at.stopping.Err() != nil && !errors.Is(err, runner.ErrLetGo) && !errors.Is(err, errDied) && !errors.Is(err, errPaused) {
		h.at = h.nextProcess() // the run settled while its process was ending
	}
	failed, isFailed := errors.AsType[*runner.Error](err)
	switch {
	case err == nil, isFailed && failed.Suggestion == nil:
		return nil
	case errors.Is(err, runner.ErrCancelled):
		return h.written(ctx)
	case errors.Is(err, errDied), errors.Is(err, runner.ErrLetGo):
		return h.takeOver(ctx, nil)
	case errors.Is(err, errPaused):
		return h.takeOver(ctx, run)
	case isFailed:
		if h.answersLeft--; h.answersLeft < 0 {
			return nil
		}
		return h.answer(ctx, failed)
	case errors.Is(err, runner.ErrParked):
		if wait := h.w.last.Wait; wait != nil {
			h.w.env.until(wait.Until)
		}
		if h.crashes.chance(0.5) { // the process did not live that long
			h.at = h.nextProcess()
		}
	case !unwritten(err) && !errors.Is(err, timeline.ErrStale):
		h.w.complain("I32: the run stopped: %v", err)
	}
	return h.resume(ctx)
}

// written waits until a cancel is in the log. A failing disk delays that; if the process dies
// first, another one takes over.
func (h *person) written(ctx context.Context) *runner.Run {
	for since := time.Now(); time.Since(since) < time.Hour; {
		ended := false
		h.w.disk.look(func(_ []recovery.Event, run *recovery.Run) { ended = run.End != nil })
		if ended {
			return nil
		}
		select {
		case <-h.at.died:
			return h.takeOver(ctx, nil)
		case <-time.After(time.Second):
		}
	}
	return h.resume(ctx)
}

// errPaused says that the process is paused and that the person does not wait for it.
var errPaused = errors.New("the process stands still")

// attend waits for the run to settle, or cuts calls short or cancels after a while.
func (h *person) attend(ctx context.Context, run *runner.Run) error {
	settled := make(chan outcome, 1)
	go func() {
		result, err := run.Wait(context.Background())
		settled <- outcome{result.State, err}
	}()
	for range h.looks() {
		if waits, err := h.wait(settled, h.cuts.duration(20*time.Second)); !waits {
			return err
		}
		h.cutShort(ctx, run.ID())
	}
	if h.deploys.chance(0.3) && h.w.recipe.has(partDeploys) {
		if waits, err := h.wait(settled, h.deploys.duration(30*time.Second)); !waits {
			return err
		}
		return h.deploy(settled)
	}
	cancelAfter := forever
	if h.dice.chance(0.2) && h.w.recipe.has(partCancels) {
		cancelAfter = h.dice.duration(2 * time.Minute)
	}
	waits, err := h.wait(settled, cancelAfter)
	if !waits {
		return err
	}
	if cancelAfter == forever {
		h.w.complain("I01: the run did not settle in %s", forever)
	}
	asked := time.Now()
	if h.dice.chance(0.5) {
		run.Cancel()
	} else if h.actElsewhere(ctx, run.ID()) {
		_, err := h.wait(settled, forever)
		return err
	}
	_, err = h.wait(settled, forever)
	if errors.Is(err, errDied) || errors.Is(err, errPaused) {
		return err
	}
	// Grace for effects that do not end, and for what delayed the write.
	if took, limit := time.Since(asked), 4500*time.Millisecond+h.w.slack(asked); took > limit {
		h.w.complain("I22: cancelled, and settled %s later", took)
	}
	return err
}

// deploy tells the process to end, and checks that it does in time.
func (h *person) deploy(settled <-chan outcome) error {
	told := time.Now()
	h.at.stop()
	_, err := h.wait(settled, forever)
	if took := time.Since(told); took > 10*time.Second+h.w.slack(told) && !errors.Is(err, errDied) && !errors.Is(err, errPaused) {
		h.w.complain("I46: told to end, and its run was let go of %s later", took)
	}
	return err
}

// looks is how often the person checks whether a call is slow; usually never.
func (h *person) looks() int {
	if !h.cuts.chance(0.15) || !h.w.recipe.has(partCuts) {
		return 0
	}
	return 1 + h.cuts.n(4)
}

// cutShort retries the current call, if there is one, or switches its model. Sometimes the person
// presses twice, or from another process.
func (h *person) cutShort(ctx context.Context, run string) {
	other := h.w.spawn(crashPlan{})
	state, err := other.runner.Inspect(ctx, run)
	if err != nil {
		return
	}
	id, actions := state.CutShort()
	if id == "" {
		return
	}
	for range 1 + h.cuts.n(2) {
		at := other
		if h.cuts.chance(0.5) && !h.at.isPaused() && h.at.stopping.Err() == nil {
			at = h.at
		}
		_, err := h.recover(ctx, at, run, runner.Answer{Suggestion: id, Action: pick(h.cuts, actions...).ID})
		if err != nil && !errors.Is(err, runner.ErrSent) && !errors.Is(err, errDied) && !answered(err) && !unwritten(err) {
			h.w.complain("I18: cutting a call short: %v", err)
		}
	}
}

// outcome is what a run settled as.
type outcome struct {
	state *recovery.Run
	err   error
}

// wait returns how the run settled, or that its process died or is paused. waits is true if none of
// that happened within the limit.
func (h *person) wait(settled <-chan outcome, limit time.Duration) (waits bool, err error) {
	paused := h.at.paused
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for {
		select {
		case s := <-settled:
			h.w.last = s.state
			return false, s.err
		case <-h.at.died:
			return false, errDied
		case <-paused:
			if paused = nil; h.crashes.chance(0.7) {
				return false, errPaused
			}
		case <-timeout.C:
			return true, nil
		}
	}
}

func (w *world) slack(since time.Time) time.Duration {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	return w.disk.slack(since)
}

// actElsewhere answers a wait, or cancels, from another process. It reports whether it answered.
func (h *person) actElsewhere(ctx context.Context, run string) bool {
	other := h.w.spawn(crashPlan{}).runner
	if state, err := other.Inspect(ctx, run); err == nil && state.Wait != nil && len(state.Wait.Actions) > 0 && h.dice.chance(0.7) {
		_, err := other.Recover(ctx, run, runner.Answer{Action: pick(h.dice, state.Wait.Actions...).ID})
		if err != nil && !errors.Is(err, runner.ErrSent) && !answered(err) { // nil: the run's owner had just released it
			h.w.complain("I18: answering a wait from elsewhere: %v", err)
		}
		return true
	}
	if err := other.Cancel(ctx, run); err != nil && !unwritten(err) {
		h.w.complain("I22: a cancel from elsewhere: %v", err)
	}
	return false
}

// answered reports whether err says that an answer came too late.
func answered(err error) bool {
	return errors.Is(err, recovery.ErrAnswered) || errors.Is(err, recovery.ErrExpired) || errors.Is(err, recovery.ErrNoSuggestion)
}

// isCancelled reports whether the run has ended as cancelled.
func (h *person) isCancelled(ctx context.Context, run string) bool {
	state, err := h.at.runner.Inspect(ctx, run)
	return err == nil && state.End != nil && state.End.Status == recovery.StatusCancelled
}

// answer answers a suggestion; nil if the person does nothing more.
func (h *person) answer(ctx context.Context, failed *runner.Error) *runner.Run {
	d := h.dice
	switch d.n(10) {
	case 0:
		return nil
	case 1:
		return h.cancelSuggestion(ctx, failed.Run)
	case 2:
		h.w.env.until(failed.Suggestion.ExpiresAt.Add(time.Minute))
		_, err := h.recover(ctx, h.at, failed.Run, runner.Answer{Action: recovery.ButtonStop})
		if !errors.Is(err, recovery.ErrExpired) && !unwritten(err) && !errors.Is(err, errDied) {
			h.w.complain("I18: an answer after the expiry: %v", err)
		}
		if errors.Is(err, errDied) {
			return h.takeOver(ctx, nil)
		}
		return nil
	case 3, 4:
		return h.answerTwice(ctx, failed)
	}
	time.Sleep(d.duration(2 * time.Hour))
	a := h.choose(failed.Suggestion)
	run, err := h.recover(ctx, h.at, failed.Run, a)
	switch {
	case err == nil:
		return run
	case errors.Is(err, errDied):
		return h.takeOver(ctx, nil)
	case unwritten(err):
		return h.resume(ctx)
	case answered(err) && h.isCancelled(ctx, failed.Run): // by somebody else, meanwhile
		return nil
	}
	h.w.complain("I18: the answer %+v: %v", a, err)
	return nil
}

func (h *person) recover(ctx context.Context, p *process, run string, a runner.Answer) (*runner.Run, error) {
	return within(p, func() (*runner.Run, error) { return p.runner.Recover(p.under(ctx), run, a) })
}

func (h *person) choose(s *recovery.Suggestion) runner.Answer {
	var actions []string
	for _, b := range s.Actions {
		if b.Effect == recovery.EffectRunner {
			actions = append(actions, b.ID)
		}
	}
	return runner.Answer{Suggestion: s.ID, Action: pick(h.dice, actions...)}
}

// cancelSuggestion cancels a run that waits for an answer.
func (h *person) cancelSuggestion(ctx context.Context, run string) *runner.Run {
	_, err := within(h.at, func() (struct{}, error) { return struct{}{}, h.at.runner.Cancel(ctx, run) })
	switch {
	case errors.Is(err, errDied):
		return h.takeOver(ctx, nil)
	case unwritten(err):
		return h.resume(ctx)
	case err != nil:
		h.w.complain("I22: cancel of a suggestion: %v", err)
	}
	return nil
}

// answerTwice answers from two processes at the same instant. Only one answer may be accepted.
func (h *person) answerTwice(ctx context.Context, failed *runner.Error) *runner.Run {
	type reply struct {
		at  *process
		run *runner.Run
		err error
	}
	replies := make(chan reply, 2)
	for _, p := range []*process{h.at, h.w.spawn(crashPlan{})} {
		a := h.choose(failed.Suggestion)
		go func() {
			run, err := h.recover(ctx, p, failed.Run, a)
			replies <- reply{p, run, err}
		}()
	}
	one, two := <-replies, <-replies
	for _, r := range []reply{one, two} {
		if errors.Is(r.err, errDied) {
			return h.takeOver(ctx, nil)
		}
		if r.err != nil && !answered(r.err) && !unwritten(r.err) && !errors.Is(r.err, timeline.ErrOwned) && !errors.Is(r.err, runner.ErrSent) {
			h.w.complain("I18: one of two answers: %v", r.err)
		}
	}
	switch {
	case one.err == nil && two.err == nil:
		h.w.complain("I18: two answers at once were both accepted")
	case two.err == nil:
		one = two
	case one.err != nil:
		return h.resume(ctx)
	}
	h.at = one.at
	return one.run
}

// resume resumes a run that stopped, as soon as the disk permits it.
func (h *person) resume(ctx context.Context) *runner.Run {
	time.Sleep(h.dice.duration(time.Minute))
	return h.claim(ctx, nil, forever)
}

// takeOver continues a run in another process. The run's own process has died or, if back is given,
// is paused.
func (h *person) takeOver(ctx context.Context, back *runner.Run) *runner.Run {
	var from *process
	if back != nil {
		from = h.at
	}
	h.at = h.nextProcess()
	h.at.delayClaimReply(from, h.moves)
	run := h.claim(ctx, from, handover)
	if run == nil && from != nil && !from.isPaused() {
		h.at, run = from, back // it resumed in time
	}
	return run
}

// nextCrash is how the next process crashes. Crashes become less and less likely.
func (h *person) nextCrash() crashPlan {
	f := h.crashes.crashPlan(h.crashRate)
	h.crashRate *= 0.8
	return f
}

// maxOwned is how long another process may drive the run: a process that cuts a call short
// continues the run, also while the network is down.
const maxOwned = time.Hour

// claim resumes the run in h.at as soon as its lease is over. That may take no longer than the
// limit and the delays of faults.
func (h *person) claim(ctx context.Context, from *process, limit time.Duration) *runner.Run {
	began := time.Now()
	for since := began; time.Since(began) < maxOwned; time.Sleep(time.Second) {
		run, err := within(h.at, func() (*runner.Run, error) { return h.at.runner.Resume(h.at.under(ctx), h.w.disk.name()) })
		switch {
		case err == nil:
			return run
		case errors.Is(err, errDied):
			h.at, since = h.nextProcess(), time.Now()
		case errors.Is(err, timeline.ErrOwned):
			if from != nil && !from.isPaused() {
				return nil
			}
			if late := time.Since(since); late > limit+h.w.slack(since) {
				h.w.complain("I36: %s after its process died the run cannot be resumed: %v", late, err)
				return nil
			}
		case !unwritten(err) && !errors.Is(err, timeline.ErrStale):
			h.w.complain("I32: resume: %v", err)
			return nil
		}
	}
	h.w.complain("I01: the run cannot be resumed")
	return nil
}
