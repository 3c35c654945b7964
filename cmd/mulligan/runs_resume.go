package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

// resumedAtOnce is how many runs "resume --all" drives at a time.
const resumedAtOnce = 32

func newRunsResume() *cobra.Command {
	var (
		f           common
		plugins     []string
		asJSON, all bool
	)
	cmd := &cobra.Command{
		Use:   "resume {RUN | --all}",
		Short: "Continue a run that no process is driving",
		Long: "Continue a run whose process died or whose time has come. What was finished is kept and not done\n" +
			"again. A run that has ended is only shown; for one that still waits it says until when, and how to cut\n" +
			"that short.\n\n" +
			"With --all it continues every run that is due and that no process is driving, side by side. Ctrl-C\n" +
			"leaves them as they are, to be resumed later. `mulligan serve` does so all the time.\n\n" +
			"Exit codes are those of `mulligan run`; with --all 0, or 1 if any of the runs failed.",
		Example: `mulligan runs resume r01j…
mulligan runs resume --all`,
		Args: takes(0, 1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			switch {
			case all == (len(args) == 1):
				return exit.Usagef("say either which run, or --all; `%s` shows them", f.hint("runs list"))
			case all:
				return resumeAll(cmd, &f, plugins, asJSON)
			}
			return goOn(cmd, &f, args[0], plugins, asJSON, func(ctx context.Context, r *runner.Runner, id string) (*runner.Run, error) {
				return resume(ctx, r, &f, id)
			})
		}),
	}
	f.register(cmd)
	registerGoOn(cmd, &plugins, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "every run that nobody drives and that has something to do")
	return cmd
}

// resume continues a run, unless it only has to wait.
func resume(ctx context.Context, r *runner.Runner, f *common, id string) (*runner.Run, error) {
	state, err := r.Inspect(ctx, id)
	if err != nil {
		return nil, err
	}
	if w := state.Wait; w != nil && time.Until(w.Until) > recovery.MaxInProcessWait.Duration() {
		return nil, &exit.Error{Code: exit.CodeFailed, Err: fmt.Errorf("run %s waits until %s%s.\nTo go on now: %s\nTo have it go on then: %s",
			id, show.ParkedUntil(state), show.WaitWord(w.For), f.hint("recover "+id+" --action "+recovery.ButtonRetryNow), f.hint("serve"))}
	}
	return r.Resume(ctx, id)
}

// resumed is the outcome of a resumed run.
type resumed struct {
	Run     string `json:"run"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"`
}

func resumeAll(cmd *cobra.Command, f *common, plugins []string, asJSON bool) error {
	a, err := f.open(cmd)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.addMCP(cmd.Flags()); err != nil {
		return err
	}
	ctx, stop := a.releasable(cmd.Context())
	defer stop()
	due, err := a.Log.List(ctx, timeline.Query{Due: time.Now(), Able: a.Config.MachineHas(), Limit: math.MaxInt32})
	if err != nil {
		return err
	}
	if len(due) == 0 {
		a.Screen.Line("There is nothing to go on with in " + a.Place() + ". What waits: " + a.Screen.Hint("runs list --waiting"))
		return nil
	}
	return a.resumeTogether(ctx, due, plugins, asJSON)
}

// resumeTogether continues runs, and prints the outcome of each.
func (a *app) resumeTogether(ctx context.Context, due []timeline.Summary, plugins []string, asJSON bool) error {
	r, models, err := a.Driver(ctx, a.Logger(), plugins)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer models.Close()
	models.Calm = true
	outcomes := map[string]int{}
	for one := range resumeEach(ctx, r, due) {
		outcomes[one.Outcome]++
		if err := a.tellResumed(one, asJSON); err != nil {
			return err
		}
	}
	return a.sumUp(ctx, outcomes)
}

// resumeEach continues runs at the same time and sends each outcome when it is known.
// When ctx ends it begins no more, and releases those in progress.
func resumeEach(ctx context.Context, r *runner.Runner, due []timeline.Summary) <-chan resumed {
	work, letGo := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { letGo(runner.ErrLetGo) })
	results := make(chan resumed)
	places := make(chan struct{}, resumedAtOnce)
	go func() {
		var going sync.WaitGroup
		for _, s := range due {
			places <- struct{}{}
			if ctx.Err() != nil {
				break
			}
			going.Go(func() {
				results <- resumeOne(work, r, s.Run)
				<-places
			})
		}
		going.Wait()
		close(results)
	}()
	return results
}

func resumeOne(ctx context.Context, r *runner.Runner, id string) resumed {
	var result runner.Result
	run, err := r.Resume(ctx, id)
	if err == nil {
		result, err = run.Wait(context.WithoutCancel(ctx))
	}
	one := resumed{Run: id}
	one.Outcome, one.Detail = server.Standing(result, err)
	return one
}

func (a *app) tellResumed(one resumed, asJSON bool) error {
	if asJSON {
		encoder := show.JSON(a.Screen.Out)
		return encoder.Encode(one)
	}
	a.Screen.Print(strings.TrimSpace(terminal.OneLine(one.Run + "  " + one.Outcome + "  " + one.Detail)))
	return nil
}

// sumUp prints how many runs had which outcome, and returns the exit code.
func (a *app) sumUp(ctx context.Context, outcomes map[string]int) error {
	var parts []string
	total := 0
	for _, word := range slices.Sorted(maps.Keys(outcomes)) {
		total += outcomes[word]
		parts = append(parts, fmt.Sprintf("%d %s", outcomes[word], strings.ReplaceAll(word, "_", " ")))
	}
	a.Screen.Line(show.Plural(total, "run", "runs") + ": " + strings.Join(parts, ", ") + ".")
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Code: stoppedCode(ctx)}
	case outcomes[string(recovery.StatusFailed)]+outcomes[server.StandsAsking]+outcomes[server.StandsStuck] > 0:
		return &exit.Error{Code: exit.CodeFailed, Err: errors.New("not every run succeeded; see: " + a.Screen.Hint("runs list --status failed"))}
	}
	return nil
}
