package rescue

import (
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// Figures are the numbers that the headline is made from.
type Figures struct {
	Took          failure.Millis  `json:"tookMs" doc:"From the first event to the last."`
	Rescue        failure.Millis  `json:"rescueMs,omitempty" doc:"Of it, from failures to the answers that followed, without the time in which a person was asked."`
	Attempts      int             `json:"attempts"`
	Failed        int             `json:"failedAttempts,omitempty"`
	Failures      int             `json:"failures,omitempty" doc:"Of attempts, tools and limits."`
	Retries       int             `json:"retries,omitempty"`
	Switches      int             `json:"switches,omitempty"`
	Answers       int             `json:"answers,omitempty" doc:"Of people, to what they were offered."`
	Tools         int             `json:"tools,omitempty" doc:"Tool calls that began."`
	ToolsRepeated int             `json:"toolsRepeated,omitempty" doc:"Of them, those that had begun before."`
	Kept          recovery.Budget `json:"kept,omitzero" doc:"What was finished when the last failure came, and was not asked again."`
	Used          recovery.Budget `json:"used,omitzero"`
	Wasted        int64           `json:"wastedTokens,omitempty"`
}

func (b *Builder) endRescue(now time.Time) {
	if !b.rescuing.IsZero() {
		b.out.Figures.Rescue += failure.InMillis(max(0, now.Sub(b.rescuing)))
	}
	b.rescuing = time.Time{}
}

func (b *Builder) figures() Figures {
	f, r := b.out.Figures, b.run
	f.Took = failure.InMillis(max(0, r.Last.Sub(r.StartedAt)))
	f.Attempts, f.Wasted = int(min(r.Attempts, 1<<31-1)), r.Wasted.Total() //nolint:gosec // bounded
	f.Used = recovery.Budget{Tokens: r.Usage.Total(), Microdollars: r.Spent.Microdollars}
	return f
}

// standing is what a headline mentions besides the figures.
type standing struct {
	status   recovery.Status
	needsYou bool
	title    string // of the current failure
}

func (b *Builder) standing(needsYou bool) standing {
	r := b.run
	s := standing{status: r.Status, needsYou: needsYou}
	if r.Open != nil {
		s.title = r.Open.Failure.Title
	}
	if needsYou {
		s.title = r.Suggestion.Title
	}
	return s
}

// headline says in one sentence, which can be read aloud, how the run went.
func headline(s standing, f Figures) string {
	tried := strings.Join(effort(f), ", ")
	switch {
	case s.needsYou:
		return colon(sentences("Waits for you", s.title), tried)
	case s.status == recovery.StatusCompleted && f.Failures == 0 && f.Switches == 0:
		return "Completed in " + spokenDuration(f.Took) + ": nothing failed"
	case s.status == recovery.StatusCompleted:
		return colon("Rescued in "+spokenDuration(f.Rescue), strings.Join(achievements(f), ", "))
	case s.status == recovery.StatusCancelled:
		return colon("Stopped after "+spokenDuration(f.Took), tried)
	case s.status == recovery.StatusFailed:
		return colon(sentences("Failed after "+spokenDuration(f.Took), s.title), tried)
	case f.Failures == 0:
		return "Running: nothing has failed so far"
	}
	return colon("Being rescued", tried)
}

func sentences(line, more string) string {
	if more == "" {
		return line
	}
	return line + ". " + more
}

func colon(line, more string) string {
	if more == "" {
		return line
	}
	return line + ": " + more
}

// effort lists what was tried.
func effort(f Figures) []string {
	var list []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			list = append(list, "1 "+one)
		case n > 1:
			list = append(list, words.Count(int64(n))+" "+many)
		}
	}
	add(f.Retries, "retry", "retries")
	add(f.Switches, "switch", "switches")
	add(f.Answers, "answer of yours", "answers of yours")
	return list
}

// achievements lists what was tried, and what that saved.
func achievements(f Figures) []string {
	list := effort(f)
	switch {
	case f.Tools > 0 && f.ToolsRepeated == 1:
		list = append(list, "1 tool repeated")
	case f.Tools > 0:
		list = append(list, words.Count(int64(f.ToolsRepeated))+" tools repeated")
	}
	const cent = 10_000 // microdollars
	switch {
	case f.Kept.Microdollars >= cent:
		list = append(list, words.Dollars(f.Kept.Microdollars)+" kept")
	case f.Kept.Tokens > 0:
		list = append(list, words.Count(f.Kept.Tokens)+" tokens kept")
	}
	return list
}

// spokenDuration writes a duration to be read aloud, without milliseconds.
func spokenDuration(ms failure.Millis) string {
	d := ms.Duration()
	if d < time.Second {
		return "less than a second"
	}
	return words.Duration(d.Round(time.Second))
}
