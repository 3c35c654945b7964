package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

const schema = `{"type":"object","properties":{"greeting":{"type":"string"},"refuse":{"type":"string"}},"additionalProperties":false}`

// config is the plugin's configuration.
type config struct {
	Greeting string `json:"greeting"`
	Refuse   string `json:"refuse"` // an error to answer with
}

func main() {
	var c commander
	plugin.Serve(plugin.Func(c.obey), plugin.WithName("conformance"), plugin.WithVersion("1.2.3"),
		plugin.WithConfigSchema(schema), plugin.WithConfig(c.configure),
		plugin.WithBeforeCall(judge), plugin.WithToolError(adviseTool), plugin.WithRunEnded(hear))
}

func (c *commander) configure(given json.RawMessage) error {
	c.config = config{}
	if given == nil {
		return nil
	}
	if err := json.Unmarshal(given, &c.config); err != nil {
		return err
	}
	if c.config.Refuse != "" {
		return errors.New(c.config.Refuse)
	}
	return nil
}

// obey does what the first line of the failure's detail says.
func (c *commander) obey(ctx context.Context, e plugin.Event) (plugin.Decision, error) {
	line, _, _ := strings.Cut(e.Failure.Detail, "\n")
	line, reason, _ := strings.Cut(line, " because ")
	verb, rest, _ := strings.Cut(line, " ")
	decision, err := c.do(ctx, e, verb, rest)
	if reason != "" {
		decision = decision.Because(reason)
	}
	return decision, err
}
