package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mulligan-run/mulligan/internal/schema"
)

// checkConfig checks a configuration against the plugin's JSON Schema. The plugin
// supplies the schema, so what it can make the host do is bounded. No configuration
// counts as an empty object.
func checkConfig(ctx context.Context, document []byte, config json.RawMessage) error {
	if len(document) == 0 {
		return nil
	}
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	compiled, err := schema.Compile(ctx, document)
	if err != nil {
		return fmt.Errorf("the plugin's config schema: %w", err)
	}
	if err := compiled.Validate(ctx, config); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}
