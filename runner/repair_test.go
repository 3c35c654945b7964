package runner_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// repairing reports repairs before it goes on.
func repairing(then step, repairs ...llm.Repair) step {
	return func(ctx context.Context, hear func(llm.Delta) bool) error {
		if !hear(llm.Delta{Kind: llm.DeltaRepaired, Repairs: repairs}) {
			return nil
		}
		return then(ctx, hear)
	}
}

// TestRepairsAreWrittenDownOnce: what was changed for a model is in the timeline,
// before the answer, and again only when it is something else.
func TestRepairsAreWrittenDownOnce(t *testing.T) {
	thinking, image := llm.Repair{Kind: llm.RepairThinking, Count: 2}, llm.Repair{Kind: llm.RepairImage, Count: 1}
	model := script(
		repairing(callsTool("1", "weather", "{}"), thinking),
		repairing(callsTool("2", "weather", "{}"), thinking),
		repairing(answers("done"), thinking, image))
	tool := runner.Tool{Name: "weather", Run: func(context.Context, runner.ToolCall) (string, error) { return "14 °C", nil }}
	log := timeline.NewMemory()
	r := runner.New(runner.WithModel(primary, model), runner.WithTools(tool), runner.WithLog(log))
	if _, err := r.Run(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	runs, err := log.List(t.Context(), timeline.Query{})
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	written, err := log.Read(t.Context(), runs[0].Run, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var repaired []recovery.Repaired
	for _, e := range written {
		if b, ok := e.Body.(recovery.Repaired); ok {
			repaired = append(repaired, b)
		}
	}
	want := []recovery.Repaired{
		{Attempt: 1, Model: primary, Repairs: []llm.Repair{thinking}},
		{Attempt: 3, Model: primary, Repairs: []llm.Repair{thinking, image}},
	}
	if !reflect.DeepEqual(repaired, want) {
		t.Errorf("%+v\nwant %+v", repaired, want)
	}
}

// TestARepairIsNotHeard: a provider that hangs after it was told a repaired
// transcript has not sent its first event.
func TestARepairIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(repairing(stalls(""), llm.Repair{Kind: llm.RepairThinking, Count: 1}))
		r := runner.New(runner.WithModel(primary, model))
		_, err := r.Run(t.Context(), "hi")
		if f := wantError(t, err, failure.KindTimeout).Failure; f.Timer != failure.TimerFirstEvent {
			t.Errorf("the timer is %q", f.Timer)
		}
	})
}
