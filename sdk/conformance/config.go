package conformance

import (
	"context"
	"fmt"

	"github.com/mulligan-run/mulligan/internal/schema"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// takesConfig has the plugin configured as a host would: its schema is asked first.
func takesConfig(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		described, err := p.service.Describe(ctx, &mulliganv1.DescribeRequest{})
		if err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		if err := allows(ctx, described.GetConfigSchema(), c.Config); err != nil {
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
func allows(ctx context.Context, document, config []byte) error {
	if len(document) == 0 {
		return nil
	}
	if len(config) == 0 {
		config = []byte("{}")
	}
	compiled, err := schema.Compile(ctx, document)
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	if err := compiled.Validate(ctx, config); err != nil {
		return fmt.Errorf("the configuration: %w", err)
	}
	return nil
}
