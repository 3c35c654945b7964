package host

import (
	"encoding/json"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Spec says how a plugin is run.
type Spec struct {
	Name     string          // unique in its Host
	Command  []string        // the executable and its arguments; no shell
	Env      []string        // KEY=VALUE, added to the allow-list (PATH, LANG, TZ, TMPDIR, HOME)
	Config   json.RawMessage // checked against the plugin's schema; nil = none
	Deadline time.Duration   // for one answer; 0 = the caller's alone
	Dir      string          // where it runs; "" = where the host does
}

// State says where a plugin stands.
type State string

// The states.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateBackoff  State = "backoff" // died or did not start, and is started again when asked later
	StateTripped  State = "tripped" // not asked for a while, or disabled; LastError says which
	StateStopped  State = "stopped" // not started yet, or closed
)

// Status is what is known about a plugin.
type Status struct {
	Name      string          `json:"name"`
	Version   string          `json:"version,omitempty"`
	State     State           `json:"state"`
	PID       int             `json:"pid,omitempty"`
	Hash      string          `json:"hash,omitempty"` // SHA-256 of its executable, hex
	Restarts  int             `json:"restarts"`
	LastError string          `json:"lastError,omitempty"`
	P50       recovery.Millis `json:"p50Ms"` // of the last 256 answers
	P99       recovery.Millis `json:"p99Ms"`
}
