package recovery

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"pgregory.net/rapid"
)

// talk is a conversation that a run can continue.
func talk() []llm.Message {
	call := llm.ToolCall{ID: "c0.1", Name: "look", Args: []byte(`{}`)}
	return []llm.Message{
		llm.User("what was said before"),
		{Role: llm.RoleAssistant, Model: "a/one", Parts: []llm.Part{{Call: &call}}},
		{Role: llm.RoleTool, Parts: []llm.Part{{Result: &llm.ToolResult{CallID: "c0.1", Name: "look", Text: "seen"}}}},
		{Role: llm.RoleAssistant, Model: "a/one", Parts: []llm.Part{{Text: "it was this"}}},
	}
}

// continued makes a story continue talk.
func continued(w *world) *world {
	w.start.Session, w.start.Continues, w.before = "s", &Head{Run: "r0", Seq: 9}, talk()
	return w
}

// foldOf folds what was told of w.
func foldOf(t tb, w *world, told []Event) *Run {
	t.Helper()
	r := &Run{}
	for _, e := range told {
		if err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
		r.Carry(w.before)
	}
	return r
}

// restored is the run that another process makes of r's snapshot.
func restored(t tb, w *world, r *Run) *Run {
	t.Helper()
	data, err := r.Snapshot(r.Seq%2 == 0)
	if err != nil {
		t.Fatal(err)
	}
	again, ok := Restore(data)
	if !ok {
		t.Fatalf("not restored: %s", data)
	}
	again.Carry(w.before)
	return again
}

// TestI26SnapshotAndTail takes a snapshot after each event of each story, goes on from it,
// and wants after every further event what folding gives.
func TestI26SnapshotAndTail(t *testing.T) {
	both := []bool{false, true}
	if testing.Short() {
		both = both[:1]
		t.Run("continued", func(t *testing.T) { t.Skip("most of it is the same in runs that continue another") })
	}
	for name, story := range stories(t) {
		for _, carries := range both {
			t.Run(fmt.Sprint(name, carries), func(t *testing.T) {
				w := story()
				if carries {
					w = continued(w)
				}
				told := play(t, w).told
				var live []*Run // gone on with from each snapshot
				for n := 1; n <= len(told); n++ {
					want := foldOf(t, w, told[:n])
					for at, r := range live {
						if err := r.Apply(told[n-1]); err != nil {
							t.Fatal(err)
						}
						if !reflect.DeepEqual(r, want) {
							t.Fatalf("snapshot of event %d, then to event %d:\n%+v\nand the fold is\n%+v", at+1, n, r, want)
						}
					}
					live = append(live, restored(t, w, want))
					if !reflect.DeepEqual(live[n-1], want) {
						t.Fatalf("snapshot of event %d:\n%+v\nand the fold is\n%+v", n, live[n-1], want)
					}
				}
			})
		}
	}
}

// TestI26Snapshots does so once in random runs.
func TestI26Snapshots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)()
		if rapid.Bool().Draw(t, "continued") {
			w = continued(w)
		}
		log := play(t, w).told
		at := rapid.IntRange(1, len(log)).Draw(t, "at")
		r := restored(t, w, foldOf(t, w, log[:at]))
		for _, e := range log[at:] {
			if err := r.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if want := foldOf(t, w, log); !reflect.DeepEqual(r, want) {
			t.Fatalf("snapshot of event %d, and all that follows:\n%+v\nand the fold is\n%+v", at, r, want)
		}
	})
}

// TestSnapshotOfAnotherVersion: a snapshot that is not of this version is ignored.
func TestSnapshotOfAnotherVersion(t *testing.T) {
	data, err := play(t, stories(t)["tools"]()).run.Snapshot(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]byte{
		nil,
		{},
		[]byte("{}"), data[1:], data[:len(data)/2], []byte(snapshotHeader()), []byte(snapshotHeader() + "{}"),
		bytes.Replace(data, []byte(snapshotHeader()), []byte("mulligan run 1 99\n"), 1),
		bytes.Replace(data, []byte(`"Unsure":0`), []byte(`"Unsure":99`), 1),
	} {
		if r, ok := Restore(other); ok {
			t.Errorf("%.40q is taken for %+v", other, r)
		}
	}
}

// TestSnapshotHoldsAll: what a Run has beside its exported fields is in snapshots by name.
func TestSnapshotHoldsAll(t *testing.T) {
	stored := reflect.TypeFor[snapshot]()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Run]()) {
		name := strings.ToUpper(f.Name[:1]) + f.Name[1:]
		if _, ok := stored.FieldByName(name); !ok && !f.IsExported() {
			t.Errorf("Run.%s is in no snapshot: add %s to snapshot, Snapshot and Restore", f.Name, name)
		}
	}
	type inner struct{ B map[string][]int }
	type other struct{ B map[string][]string }
	if shapeOf(reflect.TypeFor[struct{ A *inner }]()) == shapeOf(reflect.TypeFor[struct{ A *other }]()) {
		t.Error("runs that are made otherwise have the same header")
	}
}

// TestCrashOfAContinuedRun is the house's central test for runs that continue another.
func TestCrashOfAContinuedRun(t *testing.T) {
	if testing.Short() {
		t.Skip("every story is resumed from each of its events once more")
	}
	for name, story := range stories(t) {
		t.Run(name, func(t *testing.T) {
			crashEverywhere(t, func() *world { return continued(story()) })
		})
	}
}

// TestShowsWithoutCarry folds continued stories without what they continue: all but the
// transcript is the same, and that is the run's own, as it was said.
func TestShowsWithoutCarry(t *testing.T) {
	for name, story := range stories(t) {
		w := continued(story())
		whole := play(t, w)
		shown, err := Fold(events(t, whole.log))
		if err != nil {
			t.Fatal(err)
		}
		if shown.Whole() || shown.Answer() != whole.run.Answer() || shown.Status != whole.run.Status {
			t.Errorf("%s: it shows %s %q, not %s %q", name, shown.Status, shown.Answer(), whole.run.Status, whole.run.Answer())
		}
		if own := whole.run.Messages[whole.run.Carried:]; whole.run.Carried > 0 && len(own)+len(shown.Messages) > 0 && !reflect.DeepEqual(own, shown.Messages) {
			t.Errorf("%s: its own messages differ", name)
		}
	}
}

// TestConversation: a run's successor begins with all of it, and no call without a result.
func TestConversation(t *testing.T) {
	for name, story := range stories(t) {
		log := play(t, story()).told
		for n := 1; n <= len(log); n++ {
			r := foldOf(t, &world{}, log[:n])
			before := slices.Clone(r.Messages)
			open := map[string]bool{}
			for _, m := range r.Conversation() {
				for _, p := range m.Parts {
					switch {
					case p.Call != nil:
						open[p.Call.ID] = true
					case p.Result != nil && !open[p.Result.CallID]:
						t.Errorf("%s, event %d: %s has two results, or no call", name, n, p.Result.CallID)
					case p.Result != nil:
						delete(open, p.Result.CallID)
					}
				}
			}
			if len(open) > 0 || !reflect.DeepEqual(before, r.Messages) {
				t.Errorf("%s, event %d: %d calls without a result, %d messages of %d", name, n, len(open), len(r.Messages), len(before))
			}
		}
	}
}

// TestSupersede: only an open suggestion can be superseded, and cannot be answered then.
func TestSupersede(t *testing.T) {
	log := play(t, stories(t)["expiry"]()).told
	found := false
	for n := 1; n <= len(log); n++ {
		r := foldOf(t, &world{}, log[:n])
		end, ok := r.Supersede()
		if ok != (r.End == nil && r.offer != suggestionNone) {
			t.Errorf("event %d: superseded %v", n, ok)
		}
		if !ok {
			continue
		}
		found = true
		if line := Line(r, end); line != supersededLine && r.offer != suggestionOver {
			t.Errorf("people are told %q", line)
		}
		if err := r.Apply(Event{Run: r.ID, Seq: r.Seq + 1, Time: r.Last, Body: end}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Accept("", ButtonRetry, "", r.Last); err == nil || r.Status != StatusFailed || Next(r) != nil {
			t.Errorf("after it the run is %s, and an answer is taken (%v)", r.Status, err)
		}
	}
	if !found {
		t.Error("no suggestion was open")
	}
}
