package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/schema"
	"github.com/mulligan-run/mulligan/llm"
)

// Limits on what one answer may ask for.
const (
	maxCalls = 128
	maxArgs  = 1 << 20 // bytes of the arguments of a call
)

// patience is how many answers in a row may contain wrong tool calls: the model is told each time,
// and one more such answer is malformed.
const patience = 3

// checkTime is how long compiling a schema, or checking arguments against it, may take; the size of
// both is also bounded.
const checkTime = 5 * time.Second

// toolName matches the names that every provider accepts.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check refuses tools that cannot be offered to a model.
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

// Check says why no run may have the tool: some provider does not accept its name, it has no Run,
// or its Schema is invalid or would take too long to check arguments against. Start refuses such a
// tool.
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

// schemas are the compiled schemas of tools, by their text, so that each is compiled only once.
type schemas struct {
	mu    sync.Mutex
	known map[string]*schema.Schema
}

// maxSchemas is how many are kept: a tool server may keep changing its schemas.
const maxSchemas = 512

// of is the compiled schema of a tool's arguments; nil accepts every object.
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

// misfit says what is wrong with the arguments of a call of t; "" if nothing is.
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

// excess says what an unfinished answer has too much of; nil if it has not. The calls of an engine
// are not limited.
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

// fit records the first call with arguments that do not match its tool's schema, and whether the
// answer has the form that the run demands. It runs outside the loop, since it takes time.
func (a *attempt) fit(ctx context.Context) {
	if a.by != "" || a.loop.call != nil { // an engine or the caller carries the calls out
		return
	}
	for _, call := range a.calls() {
		if tool, ok := a.tool(call.Name); ok {
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
	if problem := a.checkForm(ctx); problem != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.over {
			a.misformed = problem
		}
	}
}

// calls are the answer's tool calls.
func (a *attempt) calls() []llm.ToolCall {
	if a.answer.Calls == 0 {
		return nil
	}
	return a.answer.Message(a.model).Calls()
}

// tool finds a tool with a schema that its calls are checked against.
func (a *attempt) tool(name string) (Tool, bool) {
	if i := slices.IndexFunc(a.theirs, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return a.theirs[i], true
	}
	return a.loop.tool(name)
}

// refused is the error for an answer that cannot be used.
func (a *attempt) refused(problem error) error {
	return a.failure(failure.KindMalformedResponse, &refusal{problem})
}

// refusal says why the runner does not accept an answer. The model is told when it is asked again.
type refusal struct{ error }

func (r *refusal) tell() string {
	return fmt.Sprintf("Your last answer could not be used: %v.", r.error)
}
