package failure_test

import (
	"fmt"

	"github.com/mulligan-run/mulligan/failure"
)

func Example() {
	body := []byte(`{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}`)
	f := failure.Classify(failure.Evidence{Status: 429, Provider: "openai", Model: "openai/gpt-5", Body: body})
	fmt.Println(f.Kind, f.Retryable)
	fmt.Println(f.Line())
	// Output:
	// billing false
	// Your OpenAI account has no credit left. Add credit, or use another provider.
}
