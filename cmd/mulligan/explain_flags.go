package main

import (
	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/explain"
)

// registerTold registers the flags that describe a failure.
func registerTold(cmd *cobra.Command, t *explain.Told) {
	f := cmd.Flags()
	f.StringVar(&t.Provider, "provider", "", "whose failure it is: anthropic, openai, …")
	f.StringVar(&t.Model, "model", "", "the model that was asked")
	f.IntVar(&t.Status, "status", 0, "the HTTP status")
	f.StringVar(&t.Code, "code", "", "the provider's or the library's error code")
	f.StringArrayVar(&t.Headers, "header", nil, "a header of the answer, 'name: value' (may be repeated)")
	f.StringVar(&t.Body, "body", "", "the file that holds the body, - for stdin")
	f.StringVar(&t.When, "when", "", "how far it had come: before-connect, headers, mid-stream, end-of-stream")
}
