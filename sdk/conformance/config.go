package conformance

import (
	"bytes"
	"context"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// takesConfig has the plugin configured as a host would: its schema is asked first.
func takesConfig(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		described, err := p.service.Describe(ctx, &mulliganv1.DescribeRequest{})
		if err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		if err := allows(described.GetConfigSchema(), c.Config); err != nil {
			return err
		}
		if err := p.Configure(ctx, c.Config); err != nil {
			return fmt.Errorf("configure: %w", err)
		}
		return p.Close()
	})
}

// allows says what the schema has against the configuration. It can refer to nothing
// outside itself; no configuration counts as an empty object.
func allows(schema, config []byte) error {
	if len(schema) == 0 {
		return nil
	}
	if len(config) == 0 {
		config = []byte("{}")
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("the schema is no JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource("config.json", document); err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	compiled, err := compiler.Compile("config.json")
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(config))
	if err != nil {
		return fmt.Errorf("the configuration is no JSON: %w", err)
	}
	return compiled.Validate(value)
}
