package show

import (
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/tui"
)

// Board makes a table of runs for a live display.
func (s *Screen) Board(list []timeline.Summary, place string) tui.Board {
	now := time.Now()
	b := tui.Board{
		Title: "mulligan top  " + terminal.OneLine(tallied(list, now)) + "  " + terminal.OneLine(place),
		Head:  []string{"RUN", "STATE", "FAILURE", "MODEL", "TRIES", "TIME", "COST", "PROMPT"},
		// The beginnings of ids of one day are alike, until they are long.
		HintNames: true,
	}
	for i, run := range beginnings(list) {
		one := list[i]
		c := one.Course.Course()
		_, model, _ := strings.Cut(one.Model, "/")
		b.Rows = append(b.Rows, tui.BoardRow{
			ID: one.Run, Mood: mood(one, now), Hint: s.boardHint(run, one, now),
			Cells: []string{
				run, StatusWord(one), string(one.Kind), terminal.OneLine(model), strconv.Itoa(c.Attempts),
				words.Duration(lasted(one, now)), dollars(c.Microdollars), terminal.OneLine(one.Title),
			},
		})
	}
	return b
}

// lasted is how long a run has taken, or took.
func lasted(s timeline.Summary, now time.Time) time.Duration {
	if !s.Ended && s.Status == recovery.StatusRunning {
		return now.Sub(s.StartedAt)
	}
	return s.UpdatedAt.Sub(s.StartedAt)
}

func dollars(microdollars int64) string {
	if microdollars == 0 {
		return ""
	}
	return words.Dollars(microdollars)
}

// boardHint is the command to type about a run.
func (s *Screen) boardHint(run string, one timeline.Summary, now time.Time) string {
	if one.Asks(now) {
		return s.Hint("recover " + run)
	}
	return s.Hint("runs show " + run)
}

func mood(s timeline.Summary, now time.Time) tui.Mood {
	switch {
	case s.Asks(now):
		return tui.MoodAsks
	case s.Status == recovery.StatusFailed:
		return tui.MoodBad
	case s.Status == recovery.StatusRunning, s.Status == recovery.StatusWaiting:
		return tui.MoodBusy
	}
	return tui.MoodPlain
}

// tallied counts runs by their state: "12 runs · 2 need you · 3 running".
func tallied(list []timeline.Summary, now time.Time) string {
	asks, by := 0, map[recovery.Status]int{}
	for _, s := range list {
		if s.Asks(now) {
			asks++
			continue
		}
		by[s.Status]++
	}
	parts := []string{strconv.Itoa(len(list)) + " runs"}
	if len(list) == 1 {
		parts[0] = "1 run"
	}
	for _, part := range []struct {
		n    int
		what string
	}{{asks, "need you"}, {by[recovery.StatusRunning], "running"}, {by[recovery.StatusWaiting], "waiting"}, {by[recovery.StatusFailed], "failed"}} {
		if part.n > 0 {
			parts = append(parts, strconv.Itoa(part.n)+" "+part.what)
		}
	}
	return strings.Join(parts, " · ")
}
