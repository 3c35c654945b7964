package rescue

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
)

func suppose(t *testing.T, events []recovery.Event, c Change) WhatIf {
	t.Helper()
	s := Suppose(c, true)
	for _, e := range events {
		if err := s.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return s.WhatIf()
}

// TestNothingElseIsDecidedAsItWas: where nothing is changed, every failure of every story is decided as
// it was; and with automatic recovery off nothing is carried out that no person accepted.
func TestNothingElseIsDecidedAsItWas(t *testing.T) {
	off, judged, acted := false, 0, 0
	for name, events := range stories(t) {
		for _, j := range suppose(t, events, Change{}).Failures {
			judged++
			if j.Then != j.Now || j.Different {
				t.Errorf("%s: #%d was %+v and is %+v", name, j.Seq, j.Then, j.Now)
			}
			if j.Then.Acts {
				acted++
			}
		}
		for _, j := range suppose(t, events, Change{AutoRecover: &off}).Failures {
			if j.Now.Acts || j.Then.Acts != j.Different && j.Then.Action == j.Now.Action {
				t.Errorf("%s: %+v", name, j)
			}
		}
	}
	if judged < 20 || acted < 10 {
		t.Errorf("%d failures were judged, %d of them carried out", judged, acted)
	}
}

// TestSupposing: another limit, and the plugin on trial, which voted after it was decided.
func TestSupposing(t *testing.T) {
	var events []recovery.Event
	told := stories(t)
	for _, name := range slices.Sorted(maps.Keys(told)) {
		all := told[name]
		if slices.ContainsFunc(all, func(e recovery.Event) bool { f, ok := e.Body.(recovery.Failed); return ok && f.Offline }) {
			continue // to go on once the network is back is no retry
		}
		at := slices.IndexFunc(all, func(e recovery.Event) bool {
			d, ok := e.Body.(recovery.Decided)
			return ok && d.Occasion.Hook() == recovery.HookRunError
		})
		if at < 0 {
			continue
		}
		if d := all[at].Body.(recovery.Decided).Decision; d.Action == recovery.ActionRetry && d.By != nil && suppose(t, all, Change{}).Failures[0].Then.Acts {
			events = slices.Clone(all[:at+1])
			break
		}
	}
	if events == nil {
		t.Fatal("no story is repeated by a plugin")
	}
	none := 0
	if got := suppose(t, events, Change{MaxRetries: &none}); got.Different != 1 || got.Failures[0].Now.Acts || !strings.Contains(got.Failures[0].Now.Text, "Only offered") {
		t.Errorf("without retries: %+v", got)
	}
	last := events[len(events)-1]
	about := last.Body.(recovery.Decided).Occasion
	vote := recovery.Vote{Plugin: "new", Shadow: true, Action: recovery.ActionFail, Reason: "it is hopeless"}
	events = append(events, recovery.Event{Run: last.Run, Seq: last.Seq + 1, Time: last.Time, Body: recovery.Voted{Occasion: about, Vote: vote}})
	got := suppose(t, events, Change{Plugin: "new"})
	if j := got.Failures[len(got.Failures)-1]; j.Now.Action != recovery.ActionFail || j.Now.By != "new" || !strings.Contains(j.Now.Text, "it is hopeless") || !j.Different {
		t.Errorf("if the plugin on trial counted: %+v", j)
	}
	s := Suppose(Change{Plugin: "new"}, false)
	for _, e := range events {
		_ = s.Add(e)
	}
	if j := s.WhatIf().Failures; strings.Contains(j[len(j)-1].Now.Text, "hopeless") {
		t.Errorf("a reason is told that nobody asked for: %+v", j)
	}
	if got := suppose(t, events, Change{Plugin: "nobody"}); got.Failures[0].Now.Action != recovery.ActionNone || got.Failures[0].Now.Acts {
		t.Errorf("if nobody counted: %+v", got)
	}
}
