package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/schema"
	"github.com/mulligan-run/mulligan/llm"
)

// What one answer may ask for.
const (
	maxCalls = 128
	maxArgs  = 1 << 20 // bytes of the arguments of a call
)

// patience is how many answers in a row may ask for what cannot be done: the model is told,
// and one more is malformed.
const patience = 3

// checkTime is how long compiling a schema, or holding arguments to it, may take; both are
// bounded by themselves.
const checkTime = 5 * time.Second

// toolName is what every provider takes.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check refuses tools that no model could be told of.
func (r *Runner) check(tools []Tool) error {
	seen := map[string]bool{}
	for _, t := range tools {
		err := t.check(&r.schemas)
		if err == nil && seen[t.Name] {
			err = errors.New("there are two of that name")
		}
		if err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		seen[t.Name] = true
	}
	return nil
}

// Check says why no run may have the tool: its name is none that every provider takes, it has
// no Run, or its Schema is no JSON Schema, or one that would take too long to hold arguments
// to. Start refuses such a tool.
func (t Tool) Check() error { return t.check(&schemas{}) }

func (t Tool) check(known *schemas) error {
	switch {
	case !toolName.MatchString(t.Name):
		return errors.New("a name is 1 to 64 letters, digits, '_' and '-'")
	case t.wrong != nil:
		return t.wrong
	case t.Run == nil:
		return errors.New("its Run is nil")
	}
	_, err := known.of(t)
	return err
}

// schemas are the compiled schemas of tools, by their text: each is compiled once.
type schemas struct {
	mu    sync.Mutex
	known map[string]*schema.Schema
}

// maxSchemas is how many are kept: servers of tools may change theirs for ever.
const maxSchemas = 512

// of is the schema of a tool's arguments; nil takes every object.
func (s *schemas) of(t Tool) (*schema.Schema, error) {
	if len(t.Schema) == 0 {
		return nil, nil
	}
	return s.ofText(t.Schema)
}

func (s *schemas) ofText(source json.RawMessage) (*schema.Schema, error) {
	text := string(source)
	s.mu.Lock()
	defer s.mu.Unlock()
	if compiled, ok := s.known[text]; ok {
		return compiled, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	compiled, err := schema.Compile(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	if s.known == nil || len(s.known) >= maxSchemas {
		s.known = map[string]*schema.Schema{}
	}
	s.known[text] = compiled
	return compiled, nil
}

// misfit says what is wrong with the arguments of a call of t, or "".
func (r *Runner) misfit(ctx context.Context, t Tool, call llm.ToolCall) string {
	compiled, err := r.schemas.of(t)
	if err == nil && compiled != nil {
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		err = compiled.Validate(ctx, call.Args)
	}
	if err == nil {
		return ""
	}
	return fmt.Sprintf("The arguments do not fit the schema of %s: %v", t.Name, err)
}

// excess says what an answer that is still being heard has too much of, or nil. An engine's
// calls are its own.
func (a *attempt) excess() error {
	switch {
	case a.by != "":
		return nil
	case a.answer.Calls > maxCalls:
		return fmt.Errorf("more than %d tool calls in one answer", maxCalls)
	case a.answer.ArgsBytes > maxArgs:
		return errors.New("a tool call whose arguments have more than 1 MiB")
	}
	return nil
}

// fit notes the first call of the answer whose arguments do not fit their tool's schema, and
// whether the answer is what it has to be. It is asked beside the loop: it takes time.
func (a *attempt) fit(ctx context.Context) {
	if a.by != "" || a.loop.call != nil { // somebody else carries them out
		return
	}
	for _, call := range a.answer.Message(a.model).Calls() {
		if tool, ok := a.loop.tool(call.Name); ok {
			if problem := a.loop.r.misfit(ctx, tool, call); problem != "" {
				a.mu.Lock()
				defer a.mu.Unlock()
				if !a.over {
					a.misfit = problem
				}
				return
			}
		}
	}
	if problem := a.loop.misformed(ctx, a.answer.Message(a.model)); problem != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.over {
			a.misformed = problem
		}
	}
}

// refused is an answer that cannot be used.
func (a *attempt) refused(problem error) error {
	return a.failure(failure.KindMalformedResponse, &refusal{problem})
}

// refusal is what the runner has against an answer. The model is told when it is asked again.
type refusal struct{ error }

func (r *refusal) tell() string {
	return fmt.Sprintf("Your last answer could not be used: %v.", r.error)
}
