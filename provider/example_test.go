package provider_test

import (
	"context"
	"fmt"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// Any server that speaks one of the wires is an entry; what goes wrong there is a failure with a
// kind.
func Example() {
	lab := faultlab.New() // plays a provider on this machine
	lab.Script("quill-1", faultlab.Answer("A second shot."), faultlab.Overloaded())
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close() }()

	models, err := provider.New([]provider.Entry{ // or provider.Defaults(), whose keys are in the environment
		{Name: "work", Type: provider.TypeAnthropic, BaseURL: server.URL(), Key: "any"},
	})
	if err != nil {
		panic(err)
	}
	model, err := models.Model("work/quill-1")
	if err != nil {
		panic(err)
	}
	for range 2 {
		var answer llm.Answer
		for delta, err := range model.Stream(context.Background(), llm.Request{Model: "work/quill-1", Messages: []llm.Message{llm.User("What is a mulligan?")}}) {
			if f, ok := failure.AsFailure(err); ok {
				fmt.Println(f.Kind, f.HTTPStatus, f.Retryable)
				break
			}
			answer.Add(delta)
		}
		fmt.Printf("%q\n", answer.Message("").Text())
	}
	// Output:
	// "A second shot."
	// overloaded 529 true
	// ""
}
