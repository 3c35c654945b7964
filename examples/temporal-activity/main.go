// A Temporal worker whose workflows ask models through Mulligan:
//
//	export MULLIGAN_URL=http://127.0.0.1:8484 MULLIGAN_TOKEN=$(cat ~/.local/state/mulligan/token)
//	go run . & temporal workflow start --type Answer --task-queue mulligan --input '"What is a mulligan?"'
//
// Temporal keeps the workflow, and Mulligan the run: what it has said, its retries, its changes of model and what
// people are asked are its own, and none of that is in the workflow's history.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// Mulligan asks models at a gateway.
type Mulligan struct{ Gateway *client.Client }

const (
	beat   = 2 * time.Second  // between two heartbeats
	silent = 10 * time.Second // without one, the worker is taken for dead
)

// Run is the activity: it begins a run, follows it to its end, and gives its answer. Tried again, on whichever worker,
// it follows the same run, since the run's key is the activity's own. A run that waits for a person is waited for.
func (m *Mulligan) Run(ctx context.Context, start client.Start) (string, error) {
	info := activity.GetInfo(ctx)
	start.Key = fmt.Sprintf("%s/%s/%s", info.WorkflowExecution.ID, info.WorkflowExecution.RunID, info.ActivityID)
	if start.AutoRecover == nil {
		start.AutoRecover = new(true) // nobody watches who could be asked at once
	}
	id, err := m.Gateway.Start(ctx, start)
	if err != nil {
		return "", err
	}
	defer beating(ctx, id)()
	for _, err := range m.Gateway.Follow(ctx, id, 0) {
		if err != nil {
			return "", err
		}
	}
	if ctx.Err() != nil {
		return "", m.left(ctx, id)
	}
	run, err := m.Gateway.Run(ctx, id)
	switch {
	case err != nil:
		return "", err
	case run.Status == recovery.StatusCompleted:
		return run.Answer.Text, nil
	}
	why := "it was " + string(run.Status)
	if run.Error != nil {
		why = run.Error.Message
	}
	// Whatever could be tried was tried.
	return run.Answer.Text, temporal.NewNonRetryableApplicationError(why, "mulligan", nil, id)
}

// left says why a run is not followed any more. Whoever cancels the workflow wants the run to end; it goes on where a
// worker ends or the activity takes too long, and is found again.
func (m *Mulligan) left(ctx context.Context, id string) error {
	cause := context.Cause(ctx)
	if temporal.IsCanceledError(cause) {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), silent)
		defer cancel()
		return errors.Join(cause, m.Gateway.Cancel(ending, id))
	}
	return cause
}

// beating tells Temporal that the worker lives, until stop is called.
func beating(ctx context.Context, run string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			activity.RecordHeartbeat(ctx, run)
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		beats.Wait()
	}
}

// Answer is a workflow that asks once. A model has up to a day, since a run may wait for a quota or a person.
func Answer(ctx workflow.Context, prompt string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 24 * time.Hour, HeartbeatTimeout: silent, WaitForCancellation: true,
	})
	var answer string
	err := workflow.ExecuteActivity(ctx, (*Mulligan)(nil).Run, client.Start{Prompt: prompt}).Get(ctx, &answer)
	return answer, err
}

func main() {
	gateway, err := client.New(os.Getenv("MULLIGAN_URL"), client.WithToken(os.Getenv("MULLIGAN_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	c, err := temporalclient.Dial(temporalclient.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS")}) // "" is localhost:7233
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	w := worker.New(c, "mulligan", worker.Options{})
	w.RegisterWorkflow(Answer)
	w.RegisterActivity(&Mulligan{Gateway: gateway})
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Print(err)
	}
}
