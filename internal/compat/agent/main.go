// Command agent is a small agent built on an official Go SDK: it asks a model, runs the one tool
// that it has, and prints the answer as it comes. Where the provider is, and the key, the SDK
// reads from the environment, so that a proxy can be put before it.
//
//	agent openai       Chat Completions, of gpt-5.2
//	agent anthropic    Messages, of claude-sonnet-4-5
//	agent -model fable-1 openai
//
// It is a client of bench/clients, and the agent of make demo-proxy.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
)

const question = "What should I wear in Oslo today?"

// agent is a conversation with a model.
type agent struct {
	model string
	out   io.Writer
}

func main() {
	model := flag.String("model", "", "the model that is asked")
	flag.Parse()
	a := &agent{model: *model, out: os.Stdout}
	talk, ok := map[string]func(context.Context) error{"openai": a.openAI, "anthropic": a.anthropic}[flag.Arg(0)]
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: agent [-model MODEL] openai|anthropic")
		os.Exit(2)
	}
	if err := talk(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
	fmt.Fprintln(a.out)
}

// weather is the only tool. It records that it ran in the file named by TOOL_LOG.
func weather(args string) (string, error) {
	var in struct{ City string }
	if err := json.Unmarshal([]byte(args), &in); err != nil {
		return "", fmt.Errorf("the tool's arguments: %w", err)
	}
	if path := os.Getenv("TOOL_LOG"); path != "" {
		log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		defer log.Close() //nolint:errcheck // what is written is looked at
		if _, err := fmt.Fprintln(log, "ran", in.City); err != nil {
			return "", err
		}
	}
	return "14 °C and clear", nil
}

// describe is the tool's description for a model.
const toolName, toolSays = "get_weather", "How the weather is in a city"

var toolTakes = map[string]any{
	"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"},
}
