package sim

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// record is the outcome of a world.
type record struct {
	recipe recipe
	about  string // its plugins
	wrong  []string
	events []recovery.Event
	many   bool // on several machines
	taken  int  // how often another process took over the run
}

// play runs a world in a bubble. The bubble ends only if no goroutine is left (I45).
func play(t *testing.T, r recipe) (rec record) {
	rec.recipe = r
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("I45: %s: %v\nagain: SEED=%d make sim", r, p, r.seed))
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, r)
		w.run()
		rec.about, rec.wrong, rec.events = w.about, w.check(), w.disk.events
		rec.many, rec.taken = w.disk.shared != nil, w.disk.checker.taken
	})
	return rec
}

// lines is the log as text.
func (r record) lines() []string {
	var lines []string
	for _, e := range r.events {
		lines = append(lines, line(e))
	}
	return lines
}

func line(e recovery.Event) string {
	data, err := e.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	_, body, _ := strings.Cut(string(data), `"data":`)
	return fmt.Sprintf("%4d %s %s %s", e.Seq, e.Time.Format("02T15:04:05.000"), e.Type(), words.Clip(body, 300))
}

// String lists what was violated, then the log.
func (r record) String() string {
	return fmt.Sprintf("%s\nplugins:%s\n\n%s\n\n%s\n", r.recipe, r.about, strings.Join(r.wrong, "\n"), strings.Join(r.lines(), "\n"))
}

var invariantID = regexp.MustCompile(`^I\d\d`)

// broken is the set of violated invariants.
func (r record) broken() map[string]bool {
	ids := map[string]bool{}
	for _, w := range r.wrong {
		ids[invariantID.FindString(w)] = true
	}
	return ids
}
