package show

import (
	"cmp"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Runs prints a store's runs as a table. place names the store; waiting adds until when runs
// wait; narrowed says that only some runs were asked for; and stranded are the runs that wait
// for a machine with what they need.
func (s *Screen) Runs(list []timeline.Summary, place string, waiting, narrowed bool, stranded map[string]bool) {
	switch {
	case len(list) > 0:
		labelled := slices.ContainsFunc(list, func(s timeline.Summary) bool { return s.Labels != "" })
		rows := s.runRows(list, waiting, labelled, stranded)
		if _, tight := s.widths(rows); tight && labelled {
			rows = s.runRows(list, waiting, false, stranded) // a wider terminal and --json have them
		}
		s.Table(rows)
	case narrowed:
		s.Line("No run in " + place + " is like that.")
	case waiting:
		s.Line("No run in " + place + " waits.")
	default:
		s.Line("No runs in " + place + ". Make one: " + s.Hint("demo"))
	}
}

func (s *Screen) runRows(list []timeline.Summary, waiting, labelled bool, stranded map[string]bool) [][]string {
	needing := slices.ContainsFunc(list, func(s timeline.Summary) bool { return s.Needs != "" })
	failed := slices.ContainsFunc(list, func(s timeline.Summary) bool { return s.Kind != "" })
	column, what := "STATUS", StatusWord
	if waiting {
		column, what = "UNTIL", untilWord
	}
	row := func(run, started, status, failure, model, labels, needs, prompt string) []string {
		cells := []string{run, started, status}
		if failed {
			cells = append(cells, failure)
		}
		cells = append(cells, model)
		if labelled {
			cells = append(cells, labels)
		}
		if needing {
			cells = append(cells, needs)
		}
		return append(cells, prompt)
	}
	rows := [][]string{row("RUN", "STARTED", column, "FAILURE", "MODEL", "LABELS", "NEEDS", "PROMPT")}
	short := beginnings(list)
	for i, one := range list {
		run := one.Run
		if s.LiveOut { // a person can type the beginning
			run = short[i]
		}
		rows = append(rows, row(run, Stamp(one.StartedAt), what(one), string(one.Kind), terminal.OneLine(one.Model),
			terminal.OneLine(one.Labels.Labels().String()), needsWord(one, stranded[one.Run]), terminal.OneLine(one.Title)))
	}
	return rows
}

// needsWord says what a run needs from a machine, and whether no machine has it.
func needsWord(s timeline.Summary, stranded bool) string {
	text := terminal.OneLine(s.Needs.Labels().String())
	if stranded {
		text += " (no machine)"
	}
	return text
}

// RunLines prints runs as JSON, one per line; stranded are those that no machine can drive.
func (s *Screen) RunLines(list []timeline.Summary, stranded map[string]bool) error {
	encoder := JSON(s.Out)
	for _, one := range list {
		line := RunLine(one)
		if stranded[one.Run] {
			line["stranded"] = true
		}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// StatusWord is the state of a run, in a word or two.
func StatusWord(s timeline.Summary) string {
	switch {
	case !s.Asks(time.Now()):
		return string(s.Status)
	case s.Course.Course().Approval != "":
		return needsApproval
	}
	return Recoverable
}

// Recoverable is the status of a run that failed, and can be recovered.
const Recoverable = "recoverable"

// needsApproval is the status of a run that has not failed: a person is asked to approve a tool
// call.
const needsApproval = "needs approval"

// untilWord says until when a run waits, and for what: "15:04 (reset)".
func untilWord(s timeline.Summary) string {
	what := " (" + terminal.OneLine(cmp.Or(string(s.WaitingFor), string(recovery.WaitTime))) + ")"
	switch {
	case s.WaitingUntil.IsZero():
		return "?" + what
	case s.WaitingUntil.Before(time.Now()):
		return "now" + what
	}
	return words.Clock(s.WaitingUntil, time.Now()) + what
}

// RunLine is one run of a list, for JSON.
func RunLine(s timeline.Summary) map[string]any {
	c := s.Course.Course()
	line := map[string]any{
		"run": s.Run, "startedAt": s.StartedAt, "updatedAt": s.UpdatedAt, "status": s.Status,
		"model": s.Model, "title": s.Title, "suggestionOpen": s.Asks(time.Now()), "seq": s.Seq,
		"attempts": c.Attempts, "tokens": c.Tokens,
	}
	for name, value := range map[string]string{"kind": string(s.Kind), "problem": s.Problem, "decidedBy": s.DecidedBy} {
		if value != "" {
			line[name] = value
		}
	}
	for name, value := range map[string]int64{
		"failedAttempts": int64(c.Failed), "wastedTokens": c.Wasted, "microdollars": c.Microdollars, "wastedMicrodollars": c.WastedMicrodollars,
	} {
		if value != 0 {
			line[name] = value
		}
	}
	if c.Approval != "" && s.Asks(time.Now()) {
		line["approval"], line["problem"] = true, c.Approval
	}
	if s.Labels != "" {
		line["labels"] = s.Labels.Labels()
	}
	if s.Needs != "" {
		line["needs"] = s.Needs.Labels()
	}
	if s.Status == recovery.StatusWaiting {
		line["waitingFor"] = s.WaitingFor
		if !s.WaitingUntil.IsZero() {
			line["waitingUntil"] = s.WaitingUntil
		}
	}
	return line
}

// shortRun is how many characters of a run's id a table shows: the time of its start, in
// milliseconds, and part of the rest.
const shortRun = 14

// beginnings returns the part of each run's id to show: enough to tell the runs apart.
func beginnings(list []timeline.Summary) []string {
	for n := shortRun; ; n++ {
		seen := map[string]bool{}
		var short []string
		for _, s := range list {
			text := s.Run[:min(n, len(s.Run))]
			seen[text] = true
			short = append(short, text)
		}
		if len(seen) == len(list) {
			return short
		}
	}
}
