package runner_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// payer is a tool whose calls a person has to approve, and how often it ran.
func payer(ran *int) runner.Tool {
	pay := runner.ToolOf("pay", "Pays a bill.", func(_ context.Context, in struct {
		Cents int `json:"cents"`
	},
	) (string, error) {
		*ran += in.Cents
		return "paid", nil
	})
	pay.Approval = true
	return pay
}

// TestApproval: a run stops before the call, whatever recovers it, and what a person answers is done.
func TestApproval(t *testing.T) {
	for action, want := range map[string]struct {
		ran    int
		told   string
		status recovery.Status
	}{
		recovery.ButtonRunTool:    {17, "paid", recovery.StatusCompleted},
		recovery.ButtonRefuseTool: {0, "The user refused this call", recovery.StatusCompleted},
		recovery.ButtonStop:       {0, "", recovery.StatusCancelled},
	} {
		t.Run(action, func(t *testing.T) {
			model, ran := script(callsTool("c1", "pay", `{"cents":17}`), answers("done")), 0
			r := runner.New(runner.WithModel("a/one", model), runner.WithTools(payer(&ran)),
				runner.WithHook(autorecover.Name, autorecover.Hook()), runner.WithAutoRecover(true))
			run, err := r.Start(t.Context(), runner.Request{Prompt: "pay it"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = run.Wait(t.Context())
			asked, ok := errors.AsType[*runner.Error](err)
			if !ok || asked.Suggestion == nil || !asked.Suggestion.AsksApproval() || ran != 0 {
				t.Fatalf("%v, and the tool ran %d times", err, ran)
			}
			if s := asked.Suggestion; s.Title != "pay waits for your approval" || s.Actions[0].Label != "Run pay" || s.Actions[1].Label != "Do not run pay" {
				t.Errorf("the person is asked %q, with %+v", s.Title, s.Actions)
			}
			again, err := r.Recover(t.Context(), asked.Run, runner.Answer{Action: action})
			if err != nil {
				t.Fatal(err)
			}
			result, _ := again.Wait(t.Context())
			if result.Status != want.status || ran != want.ran {
				t.Errorf("the run is %s, and the tool ran for %d", result.Status, ran)
			}
			if got := toldOf(result.State, "c1"); len(got) < len(want.told) || got[:len(want.told)] != want.told {
				t.Errorf("the model is told %q", got)
			}
		})
	}
}

// toldOf is what the model is told of a call.
func toldOf(run *recovery.Run, call string) string {
	for _, m := range run.Messages {
		for _, p := range m.Parts {
			if m.Role == llm.RoleTool && p.Result != nil && p.Result.CallID == call {
				return p.Result.Text
			}
		}
	}
	return ""
}

// TestNobodyApprovesNonsense: a call whose arguments do not fit is the model's mistake, about which no
// person is asked.
func TestNobodyApprovesNonsense(t *testing.T) {
	model, ran := script(callsTool("c1", "pay", `{"cents":"all"}`), answers("done")), 0
	r := runner.New(runner.WithModel("a/one", model), runner.WithTools(payer(&ran)))
	if text, err := r.Run(t.Context(), "pay it"); err != nil || text != "done" || ran != 0 {
		t.Errorf("%q, %v, and the tool ran for %d", text, err, ran)
	}
}

// ExampleTool_approval: a person is asked before each call of a tool, and Recover carries the answer out.
func ExampleTool_approval() {
	ctx := context.Background()
	refund := runner.Tool{
		Name: "refund", Description: "Pays an order back.", Approval: true,
		Run: func(context.Context, runner.ToolCall) (string, error) { return "paid back", nil },
	}
	model := script(callsTool("c1", "refund", `{"order": 17}`), answers("Order 17 is paid back."))
	r := runner.New(runner.WithModel("lab/one", model), runner.WithTools(refund))
	_, err := r.Run(ctx, "Pay order 17 back.")
	if asked, ok := errors.AsType[*runner.Error](err); ok {
		fmt.Println(asked.Suggestion.Title, "·", asked.Suggestion.Actions[0].Label)
		run, err := r.Recover(ctx, asked.Run, runner.Answer{Action: recovery.ButtonRunTool})
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := run.Wait(ctx)
		fmt.Println(result.Text, err)
	}
	// Output:
	// refund waits for your approval · Run refund
	// Order 17 is paid back. <nil>
}
