package runner_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// A run outlives the request that begins it: it is followed by its id, and whoever waits may
// stop waiting.
func ExampleWithDetached() {
	service := context.Background() // what ends with the server
	r := runner.New(runner.WithModel("lab/one", script(answers("A second shot."))), runner.WithDetached(service))

	request, done := context.WithTimeout(service, time.Minute)
	run, err := r.Start(request, runner.Request{Prompt: "What is a mulligan?"})
	done()
	if err != nil {
		fmt.Println(err)
		return
	}
	for item, err := range r.Follow(service, run.ID(), 0) {
		if err == nil && item.Event != nil && item.Event.Text != "" {
			fmt.Println(item.Event.Text)
		}
	}
	result, err := run.Wait(service)
	fmt.Println(result.Text, err)
	// Output:
	// Done.
	// A second shot. <nil>
}

// A request's own tool knows for whom it is called, and runs can be listed by their labels.
func ExampleRequest() {
	log := timeline.NewMemory()
	orders := runner.Tool{
		Name: "orders", Description: "The open orders.", Safety: recovery.SafetyReadOnly,
		Run: func(_ context.Context, call runner.ToolCall) (string, error) {
			return "none of " + call.Labels["tenant"], nil
		},
	}
	r := runner.New(runner.WithLog(log), runner.WithModel("lab/one", script(callsTool("c1", "orders", "{}"), answers("There are none."))))
	ctx := context.Background()
	run, err := r.Start(ctx, runner.Request{
		Prompt: "What is open?", Tools: []runner.Tool{orders}, Labels: recovery.Labels{"tenant": "acme"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.State.Messages[2].Parts[0].Result.Text, "·", result.Text, err)
	list, err := log.List(ctx, timeline.Query{Labels: recovery.Labels{"tenant": "acme"}})
	fmt.Println(len(list), err)
	// Output:
	// none of acme · There are none. <nil>
	// 1 <nil>
}

// A tool is a function: the model is told what its arguments are made of.
func ExampleToolOf() {
	type query struct {
		City string `json:"city" jsonschema:"the city, in English"`
	}
	type weather struct {
		Celsius float64 `json:"celsius"`
	}
	tool := runner.ToolOf("weather", "The weather of a city.", func(_ context.Context, q query) (weather, error) {
		if q.City != "Oslo" {
			return weather{}, fmt.Errorf("%s is not on the map", q.City) // the model is told
		}
		return weather{Celsius: 7.5}, nil
	})
	tool.Safety = recovery.SafetyReadOnly // it may be run again

	r := runner.New(runner.WithTools(tool), runner.WithModel("lab/one", script(callsTool("c1", "weather", `{"city":"Oslo"}`), answers("7.5 °C"))))
	fmt.Println(r.Run(context.Background(), "What is the weather in Oslo?"))
	fmt.Println(string(tool.Schema))
	// Output:
	// 7.5 °C <nil>
	// {"type":"object","properties":{"city":{"type":"string","description":"the city, in English"}},"required":["city"],"additionalProperties":false}
}

// An answer can be a value. One that is not of its type is a failure like any other, and the
// model is told why when it is asked again.
func ExampleFormatOf() {
	type city struct {
		Name   string `json:"name"`
		People int    `json:"people"`
	}
	ctx := context.Background()
	r := runner.New(runner.WithModel("lab/one", script(answers(`{"name":"Oslo","people":717710}`))))
	run, err := r.Start(ctx, runner.Request{Prompt: "The capital of Norway?", Form: recovery.Form{Format: runner.FormatOf[city](), Temperature: new(0.0)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(runner.AnswerOf[city](result))
	// Output: {Oslo 717710} <nil>
}

// A tool that is on one machine alone says what it needs, and so does every run that has it: whoever
// begins the run leaves it to that machine, where Keep goes on with it.
func ExampleWithMachine() {
	ctx := context.Background()
	build := runner.Tool{Name: "build", Needs: recovery.Labels{"files": "builds"}, Run: func(context.Context, runner.ToolCall) (string, error) {
		return "built", nil
	}}
	r := runner.New(runner.WithTools(build), runner.WithMachine(recovery.Labels{"files": "pictures"}, nil), runner.WithModel("lab/one", script(answers("ok"))))
	run, err := r.Start(ctx, runner.Request{ID: "r1", Prompt: "Build it."})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = run.Wait(ctx)
	if lacks, ok := errors.AsType[*runner.NeedsError](err); ok {
		fmt.Println(lacks)
	}
	// Output: run r1 needs a machine that has files=builds; this one has files=pictures
}
