package sim

import (
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// endRules are checked when the world has ended.
var endRules = []func(*checker){
	(*checker).i01settled, (*checker).i05unsafeToolsRunOnce, (*checker).i06intentFirst, (*checker).i08legalRequests,
	(*checker).i09screen, (*checker).i09cutAnswersStay, (*checker).i26fold, (*checker).i29followed,
}

func (c *checker) i01settled() {
	if r := c.run; r.End == nil && !r.SuggestionOpen() {
		c.complain("I01: the run stands at event %d, %s, and has not settled", r.Seq, r.Status)
	}
	if !c.cancelled.IsZero() && c.run.End == nil {
		c.complain("I22: cancelled, and it never ended")
	}
}

// i09cutAnswersStay: a truncated answer is replaced only by the complete answer that was requested
// for it.
func (c *checker) i09cutAnswersStay() {
	if c.cut != "" && (c.run.Answer() != c.cut || !c.run.Truncated()) {
		c.complain("I09: the answer that was cut was %q, and is %q", c.cut, c.run.Answer())
	}
}

func (c *checker) i05unsafeToolsRunOnce() {
	count := map[string]int{}
	for _, x := range c.w.journal.list {
		count[x.key]++
		if x.done {
			c.complain("I04: %s ran although it had returned", x)
		}
		limit := 1 + c.reruns[x.call]
		if x.tool == "lookup" {
			limit = recovery.MaxToolTries + c.reruns[x.call]
		}
		if count[x.key] > limit {
			c.complain("I05: %s ran %d times", x, count[x.key])
		}
	}
}

func (c *checker) i06intentFirst() {
	for _, x := range c.w.journal.list {
		if !x.known {
			c.complain("I06: %s ran before its intent was durable", x)
		}
	}
	if asked, again := c.w.asked.Load(), c.w.askedAgain(); asked > c.run.Attempts+c.summaries+again {
		c.complain("I06: %d requests, %d attempts, %d summaries and %d refusals of reasoning", asked, c.run.Attempts, c.summaries, again)
	}
}

// i08legalRequests: a request that the strict provider refuses had an illegal history; if the model
// was switched before, the switch made it illegal (I38).
func (c *checker) i08legalRequests() {
	models := map[string]bool{}
	for i, q := range c.w.lab.Requests() {
		models[q.Model] = true
		if q.Refused == "" {
			continue
		}
		if len(models) > 1 {
			c.complain("I38: request %d, after a switch to %s, was refused: %s\n%s", i+1, q.Model, q.Refused, q.Body)
			continue
		}
		c.complain("I08: request %d to %s was refused: %s\n%s", i+1, q.Model, q.Refused, q.Body)
	}
}

func (c *checker) i09screen() {
	s := c.w.screen
	if last := c.run.Messages; len(last) > 0 && last[len(last)-1].Role != llm.RoleTool && s.text() != c.run.Answer() {
		c.complain("I09: the screen shows %q, the run says %q", s.text(), c.run.Answer())
	}
	if said := c.run.Answer(); strings.Contains(said, "\x00") {
		c.complain("I09: the run says %q", said)
	}
}

// i26fold compares the runner's final state with the state folded from the log.
func (c *checker) i26fold() {
	live := c.w.last
	if live == nil || live.Seq != c.run.Seq {
		return // another process wrote the end
	}
	if got, want := exported(c.run), exported(live); got != want {
		c.complain("I26: the log folds to\n%s\nthe runner had\n%s", got, want)
	}
}

func (c *checker) i29followed() {
	if s := c.w.screen; s.seq != c.run.Seq && s.seq != c.end { // notes after the end are not followed
		c.complain("I29: the follower saw %d of %d events", s.seq, c.run.Seq)
	}
}
