package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// execution is one execution of a tool, as the tool itself recorded it.
type execution struct {
	call, tool string
	key        string // the idempotency key, different for every call
	known      bool   // the call's intent was durable when it began
	done       bool   // the call's result was already durable when it began
}

func (x execution) String() string { return fmt.Sprintf("%s(%s)", x.tool, x.key) }

// journal is the tools' own record, independent of the log.
type journal struct {
	mu   sync.Mutex
	list []execution
}

func (j *journal) add(x execution) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, x)
}

// tools are p's tools.
func (w *world) tools(p *process) runner.Option {
	return runner.WithTools(w.tool(p, "lookup", recovery.SafetyIdempotent, 0), w.tool(p, "charge", recovery.SafetyUnsafe, 1))
}

// tool records each execution, then waits for a while.
func (w *world) tool(p *process, name string, safety recovery.Safety, component uint64) runner.Tool {
	d := w.toolDice[component]
	return runner.Tool{Name: name, Safety: safety, Run: func(ctx context.Context, call runner.ToolCall) (string, error) {
		if p.blockIfDead() {
			return "", errDied
		}
		w.journal.add(w.executing(p, name, call))
		switch d.n(10) {
		case 0:
			return "", errors.New("it did not work")
		case 1:
			if d.chance(0.3) {
				panic("the tool broke")
			}
			time.Sleep(d.duration(8 * time.Second)) // ignores ctx
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

// executing checks what is durable when a tool begins to run.
func (w *world) executing(p *process, name string, call runner.ToolCall) execution {
	x := execution{call: call.ID, tool: name, key: call.IdempotencyKey}
	if !p.owns() {
		w.complain("I35: %s runs %s, and the run is another's", p.name, x)
	}
	w.disk.look(func(events []recovery.Event, _ *recovery.Run) {
		for _, e := range events {
			if b, ok := e.Body.(recovery.ToolBegan); ok && b.Key == x.key {
				x.known = true
			}
		}
		x.done = w.disk.checker.returned[call.ID]
	})
	return x
}
