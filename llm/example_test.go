package llm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mulligan-run/mulligan/llm"
)

// A model of one's own is a function that yields what it hears, the provider's end included.
func Example() {
	parrot := llm.ModelFunc(func(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			said := req.Messages[len(req.Messages)-1].Text()
			_ = yield(llm.Delta{Kind: llm.DeltaText, Text: "You said: "}, nil) &&
				yield(llm.Delta{Kind: llm.DeltaText, Text: said}, nil) &&
				yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
		}
	})

	var answer llm.Answer
	for delta, err := range parrot.Stream(context.Background(), llm.Request{Model: "lab/parrot", Messages: []llm.Message{llm.User("hello")}}) {
		if err != nil {
			panic(err)
		}
		answer.Add(delta)
	}
	fmt.Println(answer.Message("lab/parrot").Text(), answer.Stop)
	// Output: You said: hello end
}

// A stream that ends without its DeltaStop, or with an error, was cut: what came is partial.
func ExampleAnswer() {
	cut := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			if yield(llm.Delta{Kind: llm.DeltaText, Text: "A second sh"}, nil) {
				yield(llm.Delta{}, errors.New("connection reset"))
			}
		}
	})
	var answer llm.Answer
	for delta, err := range cut.Stream(context.Background(), llm.Request{}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		answer.Add(delta)
	}
	fmt.Printf("%q, ended: %v\n", answer.Message("").Text(), answer.Stop != "")
	// Output:
	// connection reset
	// "A second sh", ended: false
}
