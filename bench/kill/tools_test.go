package kill

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// journal is where tools record their effects: a file of its own, synced after every line.
type journal struct{ file *os.File }

func openJournal(name string) (journal, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY|os.O_SYNC, 0o600)
	return journal{f}, err
}

func (j journal) note(word, tool, key string) error {
	_, err := fmt.Fprintln(j.file, word, tool, key)
	return err
}

// effects are the contents of a journal.
type effects struct {
	begun, ended map[string]int    // by idempotency key
	tool         map[string]string // by idempotency key
}

func readJournal(name string) (effects, error) {
	e := effects{map[string]int{}, map[string]int{}, map[string]string{}}
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return e, nil
	}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		tool, key, _ := strings.Cut(rest, " ")
		e.tool[key] = tool
		if word == "begin" {
			e.begun[key]++
		} else {
			e.ended[key]++
		}
	}
	return e, err
}

// The tools. toolLook may be repeated with the same key, toolPay must not.
const (
	toolLook = "look"
	toolPay  = "pay"
)

// tools take a few milliseconds to have their effect.
func (c *child) tools() runner.Option {
	pay := recovery.SafetyUnsafe
	if c.plan.Fault == faultUnsafeRepeat {
		pay = recovery.SafetyIdempotent
	}
	return runner.WithTools(c.tool(toolLook, recovery.SafetyIdempotent), c.tool(toolPay, pay))
}

func (c *child) tool(name string, safety recovery.Safety) runner.Tool {
	return runner.Tool{Name: name, Safety: safety, Run: func(_ context.Context, call runner.ToolCall) (string, error) {
		c.killPoint.at("before effect")
		c.pipe.tell(wordBegun, call.IdempotencyKey)
		if err := c.journal.note("begin", name, call.IdempotencyKey); err != nil {
			return "", err
		}
		c.killPoint.at("amid effect")
		time.Sleep(5 * time.Millisecond)
		if err := c.journal.note("end", name, call.IdempotencyKey); err != nil {
			return "", err
		}
		c.killPoint.at("after effect")
		return name + " is done", nil
	}}
}
