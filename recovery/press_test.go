package recovery

import (
	"fmt"
	"strings"
	"testing"
)

// TestAPluginsOwnButtonComesBackToIt: when a plugin's button is pressed the plugin decides; if its
// answer is of no use the person is asked again, a few times at most.
func TestAPluginsOwnButtonComesBackToIt(t *testing.T) {
	own := []Button{{Kind: "raise_limit", Label: "Raise the limit"}}
	for _, c := range []struct {
		name   string
		answer Vote
		want   string
	}{
		{"it mended what was wrong", Vote{Action: ActionRetry}, "failed(fail) pressed=raise_limit completed calls=2"},
		{"it gives up", Vote{Action: ActionFail}, "failed(fail) pressed=raise_limit failed calls=1"},
		{"it breaks", Vote{Error: "crashed"}, "failed(fail) pressed=raise_limit failed(retry) completed calls=2"},
		{
			"it asks for ever",
			Vote{Action: ActionFail, Actions: own},
			strings.TrimSpace(strings.Repeat("failed(fail) pressed=raise_limit ", maxPresses)) + " failed calls=1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := parseStory(t, "", "policy plugins=p,q\nmodel a/one fail overloaded\nmodel a/one answer Hello.\n")
			var saw []string
			w.vote = func(plugin string, r *Run) Vote {
				switch {
				case plugin == "q" && r.Open.Pressed != "":
					t.Error("another plugin is asked about a button that is not its own")
				case r.Open.Pressed != "":
					saw = append(saw, "pressed="+r.Open.Pressed)
					return c.answer
				case plugin == "p":
					return Vote{Action: ActionFail, Actions: own}
				}
				return Vote{}
			}
			w.person = func(r *Run) string {
				saw = append(saw, fmt.Sprintf("%s(%s)", r.Status, r.Suggestion.SuggestedAction))
				return r.Suggestion.Actions[0].ID
			}
			y := play(t, w)
			saw = append(saw, string(y.run.Status), fmt.Sprintf("calls=%d", y.run.Attempts))
			if got := strings.Join(saw, " "); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}
