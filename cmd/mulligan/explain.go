package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/explain"
	"github.com/mulligan-run/mulligan/show"
)

func newExplain() *cobra.Command {
	var (
		f      common
		t      explain.Told
		table  string
		learn  string
		forget bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "explain [MESSAGE…]",
		Short:   "Say what kind of failure an error is, on what evidence, and what would be done about it",
		Long:    explainHelp,
		Example: explainExample,
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			known, err := f.corrections()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("tsv") {
				return explainTable(cmd, args, table, known.Local())
			}
			r, err := t.Report(cmd.InOrStdin(), show.New(cmd.OutOrStdout(), cmd.ErrOrStderr()), args)
			if err != nil {
				return err
			}
			x, err := explainAndLearn(&r, known, learn, forget)
			if err != nil {
				return err
			}
			if asJSON {
				return x.WriteJSON(cmd.OutOrStdout())
			}
			x.WriteNote(explain.NewNote(cmd.OutOrStdout()))
			return nil
		}),
	}
	registerTold(cmd, &t)
	f.register(cmd)
	cmd.Flags().StringVar(&learn, "learn", "", "treat failures like this one as another kind from now on: rate_limit, billing, …")
	cmd.Flags().BoolVar(&forget, "forget", false, "delete the learned row that decides what this one is")
	cmd.MarkFlagsMutuallyExclusive("learn", "forget")
	cmd.Flags().StringVar(&table, "tsv", "", "explain every row of a table of tab-separated values, - for stdin")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, for a report or a program")
	return cmd
}

const explainExample = `# An error message is enough:
mulligan explain "fetch failed: ENOTFOUND api.anthropic.com"

# A status, headers, and the body from a file:
mulligan explain --status 429 --header 'retry-after: 7' < body.json

# A whole answer, as curl -i prints it:
curl -si https://api.example.com/v1/x -d @ask.json | mulligan explain

# Nothing but a provider's code:
mulligan explain --provider openai --code insufficient_quota

# A table of failures, a row each:
mulligan explain --tsv failures.tsv > diagnosed.tsv

# Wrong? From now on, in every run, failures like this are billing:
mulligan explain --provider acme --status 429 --learn billing "No units are left."`

const explainHelp = `Give it whatever you have of a provider's failure: a message, a status, headers,
a body, or a whole answer. It prints the kind, the words that people would
see, the evidence that decided it, and what auto-recover would do. No provider is
asked anything, and what looks like a key is hidden first.

The body is read from stdin unless a message or --body is given. An answer
that begins with its status line is taken apart; flags take precedence over
what it says. Only the first 64 KiB of a body count.

If it is wrong, --learn KIND with the same input makes failures like it that
kind from now on: those with its provider, status and code that say the
same, whatever the numbers. The row stands in failures.yaml in the state
folder, where it may be edited; a running serve uses it from the next failure on,
and no run that is over changes. --forget deletes it. Rows of your own below
failures: in mulligan.yaml come first.

A table (--tsv) has a header row with any of the columns provider, model,
status, code, headers, body, message and when, in any order. It is written to
stdout with the columns kind, retryable (yes, no, once), retry_after_ms,
code_out and evidence added; everything else stays as it is.

  headers   name: value; name: value
  body      on one line: \n, \r and \t are line breaks and tabs, except
            inside a JSON string, where they are JSON's own; a doubled
            backslash stays doubled; message likewise
  when      before-connect, before-headers, headers, before-first-token,
            mid-stream, end-of-stream
  nothing   an empty cell, -, (empty) or (any)`

// explainAndLearn explains r, after learning or forgetting a correction if that is wanted.
func explainAndLearn(r *explain.Report, known *config.Corrections, learn string, forget bool) (x explain.Explained, err error) {
	now := time.Now()
	var said *config.Lesson
	switch {
	case learn != "":
		kind, wrong := failure.ParseLocalKind(learn)
		if wrong != nil {
			return x, exit.Usagef("--learn: %w", wrong)
		}
		e := r.Evidence(now)
		said, err = known.Teach(known.Local().Classify(e), e, kind)
	case forget:
		said, err = known.Unteach(r.Evidence(now))
	}
	if err != nil {
		return x, err
	}
	x, err = explain.Explain(r, now, known.Local())
	x.Lesson = said
	return x, err
}

// explainTable explains the failures in the file of that name.
func explainTable(cmd *cobra.Command, args []string, name string, rows *failure.Local) (err error) {
	for _, other := range []string{"json", "learn", "forget", "provider", "model", "status", "code", "header", "body", "when"} {
		if cmd.Flags().Changed(other) {
			return exit.Usagef("--tsv and --%s do not go together: what is known of a failure stands in its row", other)
		}
	}
	if len(args) > 0 {
		return exit.Usagef("--tsv takes no message: put it into the column message")
	}
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return exit.Usage(fmt.Errorf("--tsv: %w", err))
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	s := show.New(cmd.OutOrStdout(), cmd.ErrOrStderr())
	progress := &progress{screen: s, since: time.Now()}
	defer s.End()
	return explain.DiagnoseTable(in, cmd.OutOrStdout(), time.Now(), rows, progress.rows)
}

// progress shows the progress of long work, unless that would disturb the result.
type progress struct {
	screen *show.Screen
	since  time.Time
	last   time.Time
}

func (p *progress) rows(n int) {
	const patience, every = 2 * time.Second, 200 * time.Millisecond
	now := time.Now()
	if p.screen.LiveOut || now.Sub(p.since) < patience || now.Sub(p.last) < every {
		return
	}
	p.last = now
	p.screen.Mark(strconv.Itoa(n) + " rows…")
}
