package recovery

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestAShadowVoteChangesNothing slips one in after every event of random runs: what
// they amount to, what comes next and what is decided stay as they are.
func TestAShadowVoteChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := events(t, play(t, drawWorld(t)()).log)
		vote := drawVote(t)
		vote.Plugin, vote.Shadow = rapid.SampledFrom([]string{"p", "q", "s"}).Draw(t, "plugin"), true
		plain, shadowed := &Run{}, &Run{}
		for _, e := range log[:min(len(log), 60)] {
			apply(t, plain, e)
			apply(t, shadowed, e)
			slipped := Event{Run: e.Run, Seq: e.Seq + 1, Time: e.Time, Body: Voted{Occasion: "run_error/1", Vote: vote}}
			if open := plain.Open; open != nil {
				slipped.Body = Voted{Occasion: open.Occasion(), Vote: vote}
			}
			apply(t, shadowed, slipped)
			shadowed.Seq--
			if !reflect.DeepEqual(shadowed, plain) || !reflect.DeepEqual(Next(shadowed), Next(plain)) {
				t.Fatalf("after event %d (%s) a shadow's vote makes\n%+v\nof\n%+v", e.Seq, e.Type(), shadowed, plain)
			}
			if plain.Open != nil {
				heard := *plain
				open := *plain.Open
				open.Votes = append([]Vote{vote}, open.Votes...)
				heard.Open = &open
				if !reflect.DeepEqual(Decide(&heard), Decide(plain)) {
					t.Fatalf("after event %d a shadow's vote decides", e.Seq)
				}
			}
		}
	})
}

func apply(t tb, r *Run, e Event) {
	t.Helper()
	if err := r.Apply(e); err != nil {
		t.Fatal(err)
	}
}
