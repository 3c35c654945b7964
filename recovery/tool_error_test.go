package recovery

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
)

// TestAPersonHasAToolRunAgain: where a plugin wants a person asked, the person may have a tool run again
// that no plugin could.
func TestAPersonHasAToolRunAgain(t *testing.T) {
	w := parseStory(t, "ask", `
policy auto toolerror=p models=a/one
tool pay unsafe 1s fails=1
model a/one call pay
model a/one answer done
plugin p tool:pay ask
person tool_failure rerun_tool
`)
	y := play(t, w)
	if y.run.Status != StatusCompleted || w.journal["c1.1"] != 2 {
		t.Errorf("the run is %s, and the tool ran %d times", y.run.Status, w.journal["c1.1"])
	}
	var told []string
	for _, m := range y.run.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				told = append(told, p.Result.Text)
			}
		}
	}
	if !slices.Equal(told, []string{"result of pay"}) {
		t.Errorf("the model is told %q", told)
	}
}

// TestNoAdviceRepeatsAnUnsafeTool plays runs whose plugins say anything at all of tools that fail: none
// runs twice that must not, none more often than MaxToolTries, and each gets one result (I04, I05).
func TestNoAdviceRepeatsAnUnsafeTool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := parseStory(t, "any", `
policy auto toolerror=p,q models=a/one turn=5m run=10m
tool look read_only 1s
tool send idempotent 2s
tool pay unsafe 1s
model a/one call look,send,pay
model a/one call pay,look
model a/one answer done
person * tell_agent
`)
		for name, o := range w.tool {
			o.fails = rapid.IntRange(0, 4).Draw(t, name)
			w.tool[name] = o
		}
		w.start.Policy.AutoRecover = rapid.Bool().Draw(t, "auto")
		w.toolVote = func(string, *ToolRun) Vote {
			if rapid.IntRange(0, 9).Draw(t, "breaks") == 0 {
				return Vote{Error: "it broke"}
			}
			return Vote{
				Action: rapid.SampledFrom([]Action{ActionNone, ActionRetry, ActionRetry, ActionRetry, ActionTell, ActionAsk, ActionSwitchModel, "new"}).Draw(t, "action"),
				Delay:  failure.Millis(rapid.IntRange(-1, 70).Draw(t, "delay")) * 1000,
				Words:  rapid.SampledFrom([]string{"", "later"}).Draw(t, "words"),
			}
		}
		y := play(t, w)
		oneEnd(t, y)
		for id, times := range w.journal {
			most := 1
			if y.repeatable(id) {
				most = MaxToolTries
			}
			if times > most {
				t.Errorf("%s ran %d times", id, times)
			}
		}
		results := map[string]int{}
		for _, m := range y.run.Messages {
			for _, p := range m.Parts {
				if p.Result != nil {
					results[p.Result.CallID]++
				}
			}
		}
		for id, n := range results {
			if n != 1 {
				t.Errorf("the model has %d results of %s", n, id)
			}
		}
	})
}
