package server

import (
	"errors"
	"log/slog"
	"time"

	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

// The state of a run that is no longer driven here, in addition to recovery's statuses.
const (
	StandsAsking    = "asking"    // it failed, and its suggestion is open
	StandsLetGo     = "let_go"    // this process is ending, and the run can be resumed
	StandsElsewhere = "elsewhere" // another process drives it
	StandsStuck     = "stuck"     // it cannot continue
)

// Standing is the state of a run that was resumed, and details about it, but nothing that was
// said in the run.
func Standing(result runner.Result, err error) (word, detail string) {
	failed, ok := errors.AsType[*runner.Error](err)
	switch {
	case err == nil && result.State != nil && result.State.Truncated():
		return string(recovery.StatusCompleted), show.CutText
	case err == nil:
		return string(recovery.StatusCompleted), ""
	case ok && failed.Suggestion != nil:
		return StandsAsking, terminal.OneLine(failed.Failure.LocalLine(time.Now()))
	case ok:
		return string(recovery.StatusFailed), terminal.OneLine(failed.Failure.LocalLine(time.Now()))
	case errors.Is(err, runner.ErrCancelled):
		return string(recovery.StatusCancelled), ""
	case errors.Is(err, runner.ErrParked):
		return string(recovery.StatusWaiting), "until " + show.ParkedUntil(result.State)
	case errors.Is(err, runner.ErrLetGo):
		return StandsLetGo, ""
	case errors.Is(err, timeline.ErrOwned):
		return StandsElsewhere, terminal.OneLine(err.Error())
	}
	return StandsStuck, terminal.OneLine(err.Error())
}

// tellRun logs that a run continues and, later, its outcome.
func tellRun(log *slog.Logger, run *runner.Run, begins string) {
	log.Info(begins, "run", run.ID())
	run.OnSettled(func(result runner.Result, err error) {
		word, detail := Standing(result, err)
		told := []any{"run", run.ID(), "model", result.Model}
		if detail != "" {
			told = append(told, "detail", detail)
		}
		log.Info(word, told...)
	})
}
