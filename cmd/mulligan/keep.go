package main

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// driver makes a runner for runs that others began, with all that they may have been
// given. The models are the caller's to close.
func (a *app) driver(ctx context.Context, plugins []string, options ...runner.Option) (*runner.Runner, *models, error) {
	if err := a.config.addPlugins(plugins); err != nil {
		return nil, nil, usage(err)
	}
	models, err := newModels(a.config)
	if err != nil {
		return nil, nil, usage(err)
	}
	models.usual(a.config)
	tools, err := a.tools(models)
	if err != nil {
		models.close()
		return nil, nil, err
	}
	known, err := a.healthFile()
	if err == nil {
		err = a.warmPlugins(ctx) // nobody waits for one that is slow to start before it is asked
	}
	if err == nil {
		err = a.startMCP(ctx)
	}
	if err != nil {
		models.close()
		return nil, nil, err
	}
	options = append(options, runner.WithTools(tools...), runner.WithToolsFrom(a.mcpBeside(tools)))
	return a.runner(models, known, a.config.Model, a.config.Fallbacks, options...), models, nil
}

// Where a run may stand when it is no longer driven here; beside recovery's statuses.
const (
	standsAsking    = "asking"    // it failed, and its suggestion is open
	standsLetGo     = "let_go"    // this process ends, and the run can be resumed
	standsElsewhere = "elsewhere" // another process drives it
	standsStuck     = "stuck"     // it cannot be driven on
)

// standing is where a run stands that was gone on with, and what there is to say about
// it: nothing that was said in the run.
func standing(result runner.Result, err error) (word, detail string) {
	failed, ok := errors.AsType[*runner.Error](err)
	switch {
	case err == nil && result.State != nil && result.State.Truncated():
		return string(recovery.StatusCompleted), cutText
	case err == nil:
		return string(recovery.StatusCompleted), ""
	case ok && failed.Suggestion != nil:
		return standsAsking, oneLine(failed.Failure.LocalLine(time.Now()))
	case ok:
		return string(recovery.StatusFailed), oneLine(failed.Failure.LocalLine(time.Now()))
	case errors.Is(err, runner.ErrCancelled):
		return string(recovery.StatusCancelled), ""
	case errors.Is(err, runner.ErrParked):
		return string(recovery.StatusWaiting), "until " + parkedUntil(result.State)
	case errors.Is(err, runner.ErrLetGo):
		return standsLetGo, ""
	case errors.Is(err, timeline.ErrOwned):
		return standsElsewhere, oneLine(err.Error())
	}
	return standsStuck, oneLine(err.Error())
}

// parkedUntil is the time that a parked run waits for, in words.
func parkedUntil(state *recovery.Run) string {
	if state == nil || state.Wait == nil || state.Wait.Until.IsZero() {
		return "its time"
	}
	return words.Clock(state.Wait.Until, time.Now())
}
