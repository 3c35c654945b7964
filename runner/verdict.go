package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// checkAnswer says why what was received is not an answer; nil if it is. Only a stream that the
// provider itself ended is one.
func (a *attempt) checkAnswer(err, cause error) error {
	expired, timedOut := errors.AsType[*expiredError](cause)
	switch {
	case timedOut && (err != nil || a.answer.Stop == ""): // a complete answer is never lost to a timer
		return a.failure(failure.KindTimeout, expired)
	case errors.Is(cause, errSlept):
		return a.failure(failure.KindStreamInterrupted, errSlept)
	case errors.Is(cause, errStopped) || errors.Is(cause, ErrCancelled):
		return errStopped
	case err != nil:
		return err
	case a.answer.Stop == "" && a.answer.TextBytes == 0:
		return a.failure(failure.KindEmptyResponse, nil)
	case a.answer.Stop == "":
		return a.failure(failure.KindStreamInterrupted, nil)
	}
	return a.checkStop()
}

func (a *attempt) checkStop() error {
	calls := a.calls()
	said := a.answer.TextBytes > 0
	switch stop := a.answer.Stop; {
	case stop == llm.StopFiltered:
		return a.failure(failure.KindContentFilter, nil)
	case stop == llm.StopLength && a.loop.call != nil:
		return nil // the caller set the limit
	case stop == llm.StopLength && (len(calls) > 0 || !said):
		return a.failure(failure.KindOutputTruncated, nil)
	case !said && len(calls) == 0 && a.after != llm.RoleTool:
		return a.failure(failure.KindEmptyResponse, nil)
	}
	if problem := a.loop.astray(a, calls); problem != nil {
		return a.refused(problem)
	}
	if a.misformed != nil && len(calls) == 0 {
		if a.answer.Stop == llm.StopLength {
			return a.failure(failure.KindOutputTruncated, a.misformed)
		}
		return a.refused(a.misformed)
	}
	seen := map[string]bool{}
	for _, c := range calls {
		if problem := badCall(c, seen); problem != "" {
			return a.refused(errors.New(problem))
		}
	}
	return nil
}

// astray says that an answer has wrong tool calls for the fourth time in a row: a model that was
// told three times does not listen. Arguments that do not match are counted from when this process
// began to drive the run.
func (l *loop) astray(a *attempt, calls []llm.ToolCall) error {
	switch {
	case a.by != "", l.call != nil:
		return nil
	case a.misfit != "" && l.misfits >= patience:
		return fmt.Errorf("four answers in a row call tools with arguments that do not fit. %s", a.misfit)
	case l.unknownAgain(calls):
		return errAstray
	}
	return nil
}

// unknownAgain reports whether all calls are of unknown tools, for the fourth answer in a row.
func (l *loop) unknownAgain(calls []llm.ToolCall) bool {
	told := 0
	for i := len(l.run.Messages) - 1; i >= 0 && told < patience; i-- {
		m := l.run.Messages[i]
		if m.Role != llm.RoleAssistant {
			continue
		}
		if !l.unknown(m.Calls()) {
			return false
		}
		told++
	}
	return told == patience && l.unknown(calls)
}

// unknown reports whether there are calls, and all are of unknown tools.
func (l *loop) unknown(calls []llm.ToolCall) bool {
	for _, c := range calls {
		if slices.ContainsFunc(l.run.Tools, func(t recovery.ToolDecl) bool { return t.Name == c.Name }) {
			return false
		}
	}
	return len(calls) > 0
}

var errAstray = errors.New("four answers in a row call only tools that do not exist")

func badCall(c llm.ToolCall, seen map[string]bool) string {
	switch {
	case c.ID == "" || c.Name == "":
		return "a tool call has no id or no name"
	case seen[c.ID]:
		return "two tool calls have the same id"
	case !json.Valid(c.Args) || bytes.TrimLeft(c.Args, " \t\r\n")[0] != '{':
		return fmt.Sprintf("the arguments of the call of %s are not a JSON object", c.Name)
	}
	seen[c.ID] = true
	return ""
}
