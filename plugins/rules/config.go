package rules

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
)

// schema is the JSON Schema of the configuration.
//
//go:embed schema.json
var schema []byte

// ParseConfig reads {"file": …} or {"rules": […]}, and the file. If the rules are
// wrong, the error is [Problems].
func ParseConfig(raw json.RawMessage) (*Rules, error) {
	var c struct {
		File  string            `json:"file"`
		Rules []json.RawMessage `json:"rules"`

		BeforeCall  []json.RawMessage          `json:"before_call"`
		Expressions map[string]json.RawMessage `json:"expressions"`
		Counters    map[string]json.RawMessage `json:"counters"`
		Webhooks    map[string]json.RawMessage `json:"webhooks"`
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("the configuration is larger than %d bytes", maxFile)
	}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return nil, err
		}
	}
	inline := c.Rules != nil || c.BeforeCall != nil
	switch {
	case c.File != "" && (inline || c.Expressions != nil || c.Counters != nil || c.Webhooks != nil):
		return nil, errors.New("either file or rules, not both")
	case c.File != "":
		return Load(c.File)
	case inline:
		return parseRules("config", raw) // JSON is YAML
	}
	return nil, errors.New(`nothing is configured: name a file ("config: {file: recovery.yaml}") or write the rules ("config: {rules: […]}")`)
}
