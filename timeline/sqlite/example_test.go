package sqlite_test

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// Runs outlive the process in a folder of its own, which any number of processes may open.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "runs-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	log, err := sqlite.Open(ctx, dir)
	if err != nil {
		panic(err)
	}
	model := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			_ = yield(llm.Delta{Kind: llm.DeltaText, Text: "A second shot."}, nil) && yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
		}
	})
	answer, err := runner.New(runner.WithLog(log), runner.WithModel("lab/one", model)).Run(ctx, "What is a mulligan?")
	fmt.Println(answer, err)
	fmt.Println(log.Close())

	later, err := sqlite.OpenReading(ctx, dir) // by whoever only looks
	if err != nil {
		panic(err)
	}
	defer func() { _ = later.Close() }()
	runs, err := later.List(ctx, timeline.Query{})
	fmt.Println(runs[0].Title, runs[0].Status, err)
	// Output:
	// A second shot. <nil>
	// <nil>
	// What is a mulligan? completed <nil>
}
