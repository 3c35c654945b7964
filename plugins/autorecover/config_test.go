package autorecover_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/plugins/autorecover"
)

func TestConfigDefaults(t *testing.T) {
	for _, raw := range []string{"", "null", "{}", `{"retries":{},"switch":{}}`} {
		c, err := autorecover.ParseConfig(json.RawMessage(raw))
		if err != nil || !reflect.DeepEqual(c, autorecover.DefaultConfig()) {
			t.Errorf("%q: %+v, %v", raw, c, err)
		}
	}
}

func TestConfigSays(t *testing.T) {
	c, err := autorecover.ParseConfig(json.RawMessage(
		`{"retries":{"delays":["500ms","1m30s"],"jitter":0},"switch":{"enabled":false,"after_retries":1,"prefer":["home/atlas-1"]}}`))
	want := autorecover.Config{Delays: []time.Duration{500 * time.Millisecond, 90 * time.Second}, AfterRetries: 1, Prefer: []string{"home/atlas-1"}}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, raw := range []string{
		`[]`, `{`, `{"retry":{}}`, `{"retries":{"delay":["1s"]}}`, `{"retries":{"delays":[]}}`,
		`{"retries":{"delays":["-1s"]}}`, `{"retries":{"delays":[1]}}`, `{"retries":{"delays":["9999h"]}}`,
		`{"retries":{"delays":["soon"]}}`, `{"retries":{"jitter":1.5}}`, `{"retries":{"jitter":-0.1}}`,
		`{"switch":{"after_retries":-1}}`, `{"switch":{"enabled":"yes"}}`, `{"switch":{"prefer":[""]}}`,
	} {
		if c, err := autorecover.ParseConfig(json.RawMessage(raw)); err == nil {
			t.Errorf("%s was taken: %+v", raw, c)
		}
	}
}
