package main

import (
	"context"

	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

func main() {
	c := &costCap{}
	plugin.Serve(plugin.Func(func(_ context.Context, e plugin.Event) (plugin.Decision, error) { return c.decide(e), nil }),
		plugin.WithName("go-cost-cap"), plugin.WithVersion("0.1.0"),
		plugin.WithConfigSchema(schema), plugin.WithConfig(c.configure))
}
