package host_test

import (
	"context"
	"fmt"
	"os"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
)

// A plugin is a program that the host starts, watches and stops; a runner asks it with
// runner.WithHooks(plugins.Hooks).
func Example() {
	plugins := host.New()
	defer func() { _ = plugins.Close() }()
	err := plugins.Add(host.Spec{Name: "patient", Command: []string{os.Args[0]}, Env: []string{"FAULT=ok"}}) // the tests play it
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := plugins.Start(ctx); err != nil {
		panic(err)
	}
	for _, s := range plugins.Statuses() {
		fmt.Println(s.Name, s.Version, s.State)
	}
	about := hooks.RunError{Failure: failure.Failure{Kind: failure.KindOverloaded, Retryable: true}}
	hooks.Dispatch(ctx, plugins.Hooks(), about, hooks.Deadlines{}, func(v recovery.Vote) {
		fmt.Println(v.Plugin, "says", v.Action, "after", v.Delay, "ms")
	})
	// Output:
	// patient 1.2.3 ready
	// patient says retry after 1000 ms
}
