package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/explain"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

const decideHelp = `Say what to do about a model call that another program made and that failed. The
plugins of this installation are asked, under the limits of every run, and what they
say is kept: "mulligan runs list" shows the call.

The failure is told as to "mulligan explain", or the whole question stands on stdin
as JSON (--question), in the words of POST /v1/decide. With a name of your own for
the call (--call) its next attempts belong together, and --outcome says how it ended.

The exit code is 0 where there is something to do without asking (retry, switch_model),
and 3 where a person is to be asked, or nothing can be done. What asks often asks
"mulligan serve": POST /v1/decide, or the gRPC service mulligan.v1.Advice.`

const decideExample = `# What is to be done about this?
mulligan decide --model anthropic/claude-sonnet-4-5 --alternative openai/gpt-5.2 --status 529 Overloaded

# The second attempt of a call with a name, not to be asked about; and how it ended:
mulligan decide --call job-7 --attempt 1 --auto-recover --model openai/gpt-5.2 --status 503
mulligan decide --call job-7 --outcome ok

# All that a program knows:
mulligan decide --question --json < question.json`

// asked is what the flags of decide say.
type asked struct {
	told     explain.Told
	question advice.Question
	plugins  []string
	auto     bool
	whole    bool
	outcome  string
	asJSON   bool
}

func newDecide() *cobra.Command {
	var f common
	var q asked
	cmd := &cobra.Command{
		Use: "decide [MESSAGE…]", Short: "Say what to do about a model call that another program made and that failed",
		Long: decideHelp, Example: decideExample,
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error { return a.decide(cmd, &q, args) }),
	}
	f.register(cmd)
	registerTold(cmd, &q.told)
	flags := cmd.Flags()
	flags.StringVar(&q.question.Call, "call", "", "your name for the model call, another one for each")
	flags.IntVar(&q.question.Attempt, "attempt", 0, "which of its attempts failed, from 0")
	flags.StringArrayVar(&q.question.Alternatives, "alternative", nil, "a model that could be called instead, provider/model (repeatable, in order)")
	flags.BoolVar(&q.question.PartialShown, "partial-shown", false, "people have seen a part of the answer, which cannot be withdrawn")
	flags.BoolVar(&q.auto, "auto-recover", false, "nobody is to be asked (default: as it is configured)")
	flags.BoolVar(&q.whole, "question", false, "read the whole question from stdin, as JSON")
	flags.StringVar(&q.outcome, "outcome", "", "tell how the call ended: ok, failed")
	flags.StringArrayVar(&q.plugins, "plugin", nil, server.PluginUsage)
	flags.BoolVar(&q.asJSON, "json", false, "the answer as POST /v1/decide gives it")
	return cmd
}

// read completes the question.
func (q *asked) read(cmd *cobra.Command, args []string) error {
	q.question.Model = q.told.Model
	if cmd.Flags().Changed("auto-recover") {
		q.question.AutoRecover = &q.auto
	}
	switch {
	case q.outcome != "" && q.outcome != "ok" && q.outcome != "failed":
		return exit.Usagef("--outcome %q: write ok, or failed", q.outcome)
	case q.outcome != "" && q.question.Call == "":
		return exit.Usagef("--outcome is about a call that was asked about: name it by --call")
	case q.whole:
		return q.readWhole(cmd.InOrStdin())
	case q.outcome == "ok":
		return nil
	case q.told.Model == "":
		return exit.Usagef("say which model was called: --model provider/model")
	}
	r, err := q.told.Report(cmd.InOrStdin(), show.New(cmd.OutOrStdout(), cmd.ErrOrStderr()), args)
	if err != nil {
		return err
	}
	e := r.Evidence(time.Now())
	q.question.Failure = advice.Evidence{Status: e.Status, Body: string(e.Body), Headers: map[string]string{}, When: e.Phase}
	if e.Err != nil {
		q.question.Failure.Message = e.Err.Error()
	}
	for name, values := range e.Header {
		q.question.Failure.Headers[name] = strings.Join(values, ", ")
	}
	return nil
}

// readWhole reads a question from in, replacing what the flags say.
func (q *asked) readWhole(in io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, explain.MaxPasted))
	if err != nil {
		return fmt.Errorf("reading the question: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&q.question); err != nil {
		return exit.Usagef("the question on stdin is not what POST /v1/decide takes: %w", err)
	}
	return nil
}

// decide asks, or reports how a call ended, and prints the result.
func (a *app) decide(cmd *cobra.Command, q *asked, args []string) error {
	if err := q.read(cmd, args); err != nil {
		return err
	}
	if q.question.Call == "" {
		q.question.Call = ulid.Make().String()
	}
	r, models, err := a.Driver(cmd.Context(), a.Logger(), q.plugins)
	if err != nil {
		return err
	}
	defer models.Close()
	defer func() { _ = r.Drain(cmd.Context()) }() // releases the run of the question
	desk := a.Advice(r, models)
	if q.outcome != "" {
		return a.tellOutcome(cmd, desk, q)
	}
	reply, err := desk.Decide(cmd.Context(), "", q.question)
	if err != nil {
		return wrongQuestion(err)
	}
	if q.asJSON {
		err = json.NewEncoder(a.Screen.Out).Encode(reply)
	} else {
		a.Screen.Advice(reply.Failure, reply.Decision, reply.RecoverySuggestion)
	}
	if err == nil && !reply.Acts() {
		return &exit.Error{Code: exit.CodeSuggestion}
	}
	return err
}

func (a *app) tellOutcome(cmd *cobra.Command, desk *advice.Desk, q *asked) error {
	told := advice.Outcome{Call: q.question.Call, OK: q.outcome == "ok", Model: q.question.Model}
	if !told.OK {
		told.Failure = &q.question.Failure
	}
	closed, err := desk.Close(cmd.Context(), "", told)
	switch {
	case err != nil:
		return wrongQuestion(err)
	case q.asJSON:
		return json.NewEncoder(a.Screen.Out).Encode(closed)
	}
	a.Screen.Line("Run " + closed.Run + " is " + string(closed.Status) + ": " + a.Screen.Hint("runs show "+closed.Run))
	return nil
}

// wrongQuestion marks err as wrong usage if the question was invalid.
func wrongQuestion(err error) error {
	if _, wrong := errors.AsType[*advice.FieldError](err); wrong {
		return exit.Usage(err)
	}
	if errors.Is(err, timeline.ErrNotFound) {
		return exit.Usagef("nobody has asked about this call")
	}
	return err
}
