package recovery

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// TestStepCountsText: text that streams re-arms the step's clock where the policy says so, and
// only text that the attempt in the air said; so does what a failed attempt had said.
func TestStepCountsText(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	heard := start.Add(20 * time.Second)
	broke := *failure.NewFailure(failure.KindStreamInterrupted, failure.OriginModel, failure.PhaseMidStream, nil)
	for _, tt := range []struct {
		counts bool
		said   Body
		want   time.Duration
	}{
		{true, Noted{Topic: TopicText, Attempt: 1, Since: heard}, 50 * time.Second},
		{false, Noted{Topic: TopicText, Attempt: 1, Since: heard}, 30 * time.Second},
		{true, Noted{Topic: TopicProgress, Attempt: 1, Since: heard}, 30 * time.Second},
		{true, Noted{Topic: TopicText, Attempt: 2, Since: heard}, 30 * time.Second},
		{true, Failed{Attempt: 1, Text: "Hello", Failure: broke}, 50 * time.Second},
		{true, Failed{Attempt: 1, Failure: broke}, 30 * time.Second},
	} {
		p := DefaultPolicy()
		p.Timeouts.Step, p.StepCountsText = 30_000, tt.counts
		bodies := []Body{Started{Model: "a/one", Policy: p}, Claimed{Owner: "o", Epoch: 1}, Began{Attempt: 1, Round: 1, Model: "a/one"}, tt.said}
		r := &Run{}
		for i, body := range bodies {
			at := start
			if i == len(bodies)-1 {
				at = heard
			}
			if err := r.Apply(Event{Run: "r1", Seq: uint64(i + 1), Time: at, Body: body}); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.LastStepAt.Add(p.Timeouts.Step.Duration()).Sub(start); got != tt.want {
			t.Errorf("counts %v, %+v: step is due after %s, want %s", tt.counts, tt.said, got, tt.want)
		}
	}
}

// TestPostpone: what a timer would say of a call that has said something since is not written;
// that it spoke is, and the timer is due that much later.
func TestPostpone(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := DefaultPolicy()
	p.Timeouts.Step, p.Timeouts.ProgressAfter, p.StepCountsText = 40_000, 30_000, true
	r, err := Fold([]Event{
		{Run: "r1", Seq: 1, Time: start, Body: Started{Model: "a/one", Policy: p}},
		{Run: "r1", Seq: 2, Time: start, Body: Claimed{Owner: "o", Epoch: 1}},
		{Run: "r1", Seq: 3, Time: start, Body: Began{Attempt: 1, Round: 1, Model: "a/one"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	timers := func() map[string]SetTimer {
		list := map[string]SetTimer{}
		for _, e := range Next(r) {
			if e.Timer != nil {
				list[e.Timer.Write.eventType()+string(timerOf(e.Timer.Write))] = *e.Timer
			}
		}
		return list
	}
	due, note := timers()["duestep"], timers()["noted"]
	for _, body := range []Body{due.Write, note.Write} {
		if _, ok := r.Postpone(body, time.Time{}); ok {
			t.Errorf("%+v is put off, and nothing was said", body)
		}
	}
	if _, ok := r.Postpone(Due{Timer: failure.TimerRun}, start.Add(time.Minute)); ok {
		t.Error("the run's limit is put off")
	}
	heard := start.Add(25 * time.Second)
	instead, ok := r.Postpone(note.Write, heard)
	if !ok {
		t.Fatal("people are told that it still works while it speaks")
	}
	if _, ok := r.Postpone(due.Write, heard); !ok {
		t.Error("the step is over while it speaks")
	}
	if err := r.Apply(Event{Run: "r1", Seq: 4, Time: start.Add(30 * time.Second), Body: instead}); err != nil {
		t.Fatal(err)
	}
	if at := timers()["duestep"].At; !at.Equal(heard.Add(40 * time.Second)) {
		t.Errorf("the step is over at %v", at)
	}
	if at := timers()["noted"].At; !at.Equal(heard.Add(quietAround)) {
		t.Errorf("the note is due at %v", at)
	}
	if _, ok := r.Postpone(timers()["noted"].Write, heard); ok {
		t.Error("the note is put off twice for the same word")
	}
}

func timerOf(b Body) failure.Timer {
	due, _ := b.(Due)
	return due.Timer
}
