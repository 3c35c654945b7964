package hooks_test

import (
	"context"
	"fmt"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// Hooks are asked side by side; one that panics has no opinion, and harms nobody.
func Example() {
	backoff := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry, Delay: e.Failure.RetryAfter, Reason: "it said when"}, nil
	})
	broken := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) { panic("nobody home") })

	about := hooks.RunError{Model: "anthropic/claude-sonnet-4-5", Failure: failure.Failure{Kind: failure.KindRateLimit, Retryable: true, RetryAfter: 3000}}
	votes := map[string]recovery.Vote{}
	hooks.Dispatch(context.Background(), []hooks.Named{{Name: "backoff", Hook: backoff}, {Name: "broken", Hook: broken}}, about, hooks.Deadlines{},
		func(v recovery.Vote) { votes[v.Plugin] = v }) // in the order in which they answer

	fmt.Println(votes["backoff"].Action, votes["backoff"].Delay, votes["backoff"].Reason)
	fmt.Println(votes["broken"].Action == "", votes["broken"].Error != "")
	// Output:
	// retry 3000 it said when
	// true true
}
