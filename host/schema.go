package host

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSchema is the most that is read of a plugin's schema, in bytes.
const maxSchema = 256 << 10

// checkConfig checks a configuration against the plugin's JSON Schema, which can
// refer to nothing outside itself. No configuration counts as an empty object.
func checkConfig(schema []byte, config json.RawMessage) error {
	if len(schema) == 0 {
		return nil
	}
	if len(schema) > maxSchema {
		return fmt.Errorf("the plugin's config schema has %d bytes, at most %d", len(schema), maxSchema)
	}
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("the plugin's config schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource("config.json", document); err != nil {
		return fmt.Errorf("the plugin's config schema: %w", err)
	}
	compiled, err := compiler.Compile("config.json")
	if err != nil {
		return fmt.Errorf("the plugin's config schema: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(config))
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}
