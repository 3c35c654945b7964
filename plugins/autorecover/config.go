package autorecover

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mulligan-run/mulligan/failure"
)

// Schema is the JSON Schema of the configuration.
//
//go:embed schema.json
var Schema []byte

// Config says when to retry and when to switch. The zero value retries at once
// and never switches; see [DefaultConfig].
type Config struct {
	Delays       []time.Duration // before the first, second, … retry; the last one repeats
	Jitter       float64         // how much longer a delay may get, as a fraction of it, 0 to 1
	Switch       bool            // whether to switch models at all
	AfterRetries int             // retries of one model before another is asked
	Prefer       []string        // full names to try first
}

// DefaultConfig is the policy of spec §7.
func DefaultConfig() Config {
	return Config{
		Delays: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
		Jitter: 0.25, Switch: true, AfterRetries: 3,
	}
}

// ParseConfig reads a configuration and checks it against [Schema]. What it leaves out
// is as in [DefaultConfig]; so are empty and null.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := DefaultConfig()
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return c, nil
	}
	if err := validate(raw); err != nil {
		return Config{}, err
	}
	w := wireConfig{Retries: wireRetries{Jitter: c.Jitter}, Switch: wireSwitch{Enabled: c.Switch, AfterRetries: c.AfterRetries}}
	if err := json.Unmarshal(raw, &w); err != nil {
		return Config{}, err
	}
	c.Jitter, c.Switch, c.AfterRetries, c.Prefer = w.Retries.Jitter, w.Switch.Enabled, w.Switch.AfterRetries, w.Switch.Prefer
	if w.Retries.Delays == nil {
		return c, nil
	}
	var err error
	c.Delays, err = parseDelays(w.Retries.Delays)
	return c, err
}

// wireConfig is the configuration as it is written.
type wireConfig struct {
	Retries wireRetries `json:"retries"`
	Switch  wireSwitch  `json:"switch"`
}

type wireRetries struct {
	Delays []string `json:"delays"`
	Jitter float64  `json:"jitter"`
}

type wireSwitch struct {
	Enabled      bool     `json:"enabled"`
	AfterRetries int      `json:"after_retries"`
	Prefer       []string `json:"prefer"`
}

func validate(raw []byte) error {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		return err
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func parseDelays(texts []string) ([]time.Duration, error) {
	var delays []time.Duration
	for i, text := range texts {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("retries.delays[%d]: %w", i, err)
		}
		if d > failure.MaxDelay.Duration() {
			return nil, fmt.Errorf("retries.delays[%d]: %s is longer than 7 days", i, text)
		}
		delays = append(delays, d)
	}
	return delays, nil
}
