package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/sdk/conformance"
)

// conformFlags are the flags of plugin test.
type conformFlags struct {
	config, only  string
	env           []string
	deadline      time.Duration
	json, verbose bool
}

const conformHelp = `Hold a plugin to docs/plugin-protocol.md. It is started again and again, as a host
starts it, and must
  · behave as a process: its handshake, TLS and who is refused, health, its end
  · answer failures of every kind, each in four circumstances; what it decides is
    shown, and is right if a host can take it
  · survive what a host may send some day, many calls, and calls that are given up
  · stay within bounds of memory and of what it logs

It is asked about failures that never were; what it does then, it does: give it a
configuration for tests. Flags come before the command, which needs no quotes.

Exit codes: 0 it passed, 1 something failed, 2 wrong usage.`

func newPluginTest() *cobra.Command {
	f := &conformFlags{}
	cmd := &cobra.Command{
		Use:   "test CMD…",
		Short: "Hold a plugin in any language to the protocol",
		Long:  conformHelp,
		Example: `mulligan plugin test ./my-plugin
mulligan plugin test --config test.json --env REGION=eu .venv/bin/python plugin.py
mulligan plugin test --only 'failures/rate|shutdown' --verbose node dist/main.js
mulligan plugin test --json ./my-plugin | jq -r 'select(.passed == false) | .name'`,
		Args: cobra.MinimumNArgs(1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			exam, err := f.exam(args)
			if err != nil {
				return err
			}
			a := &app{screen: newScreen(cmd.OutOrStdout(), cmd.ErrOrStderr()), config: &config{}}
			ctx, stop := a.interruptible(cmd.Context())
			defer stop()
			return f.hold(ctx, a.screen, exam)
		}),
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&f.config, "config", "", "the plugin's configuration, a file of JSON")
	cmd.Flags().StringArrayVar(&f.env, "env", nil, "a variable for the plugin: NAME, as it is here, or NAME=VALUE; repeatable")
	cmd.Flags().StringVar(&f.only, "only", "", "only what this regular expression finds in TOPIC/NAME")
	cmd.Flags().DurationVar(&f.deadline, "deadline", answerDeadline, "how long an answer may take")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "every answer on a line of its own, with its reason")
	cmd.Flags().BoolVar(&f.json, "json", false, "a JSON line for every result, and one for all")
	return cmd
}

// exam is what the flags and the command ask for.
func (f *conformFlags) exam(args []string) (conformance.Exam, error) {
	exam := conformance.Exam{Command: conformance.Command{Args: args}, Deadline: f.deadline}
	if f.deadline < 10*time.Millisecond || f.deadline > 5*time.Second {
		return exam, usagef("--deadline is from 10ms to 5s")
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return exam, usagef("the command cannot be started: %w", err)
	}
	if f.config != "" {
		config, err := readBounded(f.config)
		if err != nil {
			return exam, usagef("--config: %w", err)
		}
		if !json.Valid(config) {
			return exam, usagef("--config: %s is no JSON", f.config)
		}
		exam.Command.Config = config
	}
	for _, variable := range f.env {
		name, value, given := strings.Cut(variable, "=")
		if !given {
			value = os.Getenv(name)
		}
		if name == "" {
			return exam, usagef("--env %q has no name", variable)
		}
		exam.Command.Env = append(exam.Command.Env, name+"="+value)
	}
	if f.only == "" {
		return exam, nil
	}
	only, err := regexp.Compile(f.only)
	if err != nil {
		return exam, usagef("--only: %w", err)
	}
	exam.Wanted = func(topic, name string) bool { return only.MatchString(topic + "/" + name) }
	return exam, nil
}

// hold holds the exam and tells how it goes.
func (f *conformFlags) hold(ctx context.Context, s *screen, exam conformance.Exam) error {
	told := &conformNote{screen: s, verbose: f.verbose, began: time.Now()}
	exam.Report = told.result
	if f.json {
		exam.Report = told.encode
	} else {
		told.heading(exam.Command.Args)
	}
	portrait, err := exam.Hold(ctx)
	if err != nil {
		return interrupted(ctx, err)
	}
	if told.passed+told.failed+told.skipped == 0 {
		return usagef("--only %q finds nothing", f.only)
	}
	if f.json {
		err = told.encodeSummary(portrait)
	} else {
		told.summary(portrait)
	}
	if err == nil && told.failed > 0 {
		return &exitError{code: exitFailed}
	}
	return err
}

// conformNote tells the results of an exam, as a page or as JSON lines.
type conformNote struct {
	*screen
	verbose                 bool
	began                   time.Time
	topic                   string // that was announced last
	failedWith, failedAt    string // what came the last time something failed, and what that was
	passed, failed, skipped int
	err                     error // of the first line that could not be written
}

func (n *conformNote) count(r conformance.Result) {
	switch {
	case r.Skipped != "" && r.Err == nil:
		n.skipped++
	case r.Err != nil:
		n.failed++
	default:
		n.passed++
	}
}

// conformLine is a result in --json output.
type conformLine struct {
	Topic    string          `json:"topic"`
	Name     string          `json:"name"`
	Passed   bool            `json:"passed"`
	Skipped  string          `json:"skipped,omitempty"`
	Millis   int64           `json:"ms"`
	Expected string          `json:"expected,omitempty"`
	Got      string          `json:"got,omitempty"`
	Advice   string          `json:"advice,omitempty"`
	Answers  []conformAnswer `json:"answers,omitempty"`
}

type conformAnswer struct {
	Shape    string  `json:"shape"`
	Action   string  `json:"action,omitempty"`
	DelayMs  int64   `json:"delayMs,omitempty"`
	NewModel string  `json:"newModel,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Note     string  `json:"note,omitempty"`
	Millis   float64 `json:"ms"`
}

func (n *conformNote) encode(r conformance.Result) {
	n.count(r)
	line := conformLine{
		Topic: r.Topic, Name: r.Name, Passed: r.Err == nil && r.Skipped == "", Skipped: r.Skipped, Millis: r.Took.Milliseconds(),
	}
	if r.Err != nil {
		line.Expected, line.Got, line.Advice = r.Demand, r.Err.Error(), r.Advice
	}
	for _, a := range r.Answers {
		line.Answers = append(line.Answers, conformAnswer{
			Shape: a.Shape, Action: string(a.Vote.Action), DelayMs: int64(a.Vote.Delay), NewModel: a.Vote.NewModel,
			Reason: a.Vote.Reason, Note: a.Note, Millis: millis(a.Took),
		})
	}
	n.write(line)
}

func (n *conformNote) write(line any) {
	encoder := jsonTo(n.out)
	if err := encoder.Encode(line); err != nil && n.err == nil {
		n.err = err
	}
}

// millis is a duration in milliseconds to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// conformSummary is the last line of --json output.
type conformSummary struct {
	Plugin  string         `json:"plugin"`
	Version string         `json:"version"`
	Passed  int            `json:"passed"`
	Failed  int            `json:"failed"`
	Skipped int            `json:"skipped"`
	Millis  int64          `json:"ms"`
	Timing  *conformTiming `json:"timing,omitempty"`
}

type conformTiming struct {
	ColdStartsMs []float64 `json:"coldStartsMs"`
	Calls        int       `json:"calls"`
	P50Ms        float64   `json:"p50Ms"`
	P99Ms        float64   `json:"p99Ms"`
}

func (n *conformNote) encodeSummary(p conformance.Portrait) error {
	s := conformSummary{
		Plugin: p.Name, Version: p.Version, Passed: n.passed, Failed: n.failed, Skipped: n.skipped, Millis: time.Since(n.began).Milliseconds(),
	}
	if t := p.Timing; t != nil {
		s.Timing = &conformTiming{Calls: t.Calls, P50Ms: millis(t.P50), P99Ms: millis(t.P99)}
		for _, start := range t.ColdStarts {
			s.Timing.ColdStartsMs = append(s.Timing.ColdStartsMs, millis(start))
		}
	}
	n.write(map[string]conformSummary{"summary": s})
	return n.err
}

// commandLine is a command as a shell would need it.
func commandLine(args []string) string {
	var words []string
	for _, arg := range args {
		words = append(words, shellQuote(oneLine(arg)))
	}
	return strings.Join(words, " ")
}

// spellShort is a duration as a page of results has it: "0.41 s", "3 ms".
func spellShort(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f ms", millis(d))
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", millis(d))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
