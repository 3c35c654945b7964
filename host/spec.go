package host

import (
	"encoding/json"
	"runtime"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// Spec says how to run a plugin, or where it listens: either Command or Address is set.
// With Address, the fields about a process (Env, Config, Dir, Folder, Pin, PlainText
// and Limits) stay empty.
type Spec struct {
	Name       string            // unique in its Host, at most 100 bytes
	Command    []string          // the executable and its arguments; no shell
	Address    string            // of a service: grpcs://HOST:PORT, grpc://HOST:PORT on this machine, unix:///PATH
	TLS        *RemoteTLS        // for grpcs; nil = the system's roots and no client certificate
	Env        []string          // KEY=VALUE, added to the allow-list (PATH, LANG, TZ, TMPDIR, HOME)
	Config     json.RawMessage   // checked against the plugin's schema; nil = none
	Late       bool              // the command may be missing when the plugin is added: it is looked up at each start
	Deadline   time.Duration     // for one answer; 0 = the caller's only
	Dir        string            // the working directory; "" = the host's
	Folder     string            // holds the whole plugin; "" = found as HashFolder says
	Pin        string            // the hex result of HashFolder; a checked copy runs. "" = not pinned
	Occasions  []string          // that it is asked about; nil = run_error only. One that it does not offer is an error at its start
	FailClosed bool              // a model call does not begin without its valid answer
	Transcript bool              // a person granted it the transcript of runs
	PlainText  bool              // no TLS on the plugin's socket, for systems whose policy forbids its cryptography
	Restart    RestartPolicy     // zero fields mean the defaults
	Breaker    BreakerPolicy     // zero fields mean the defaults
	Limits     Limits            // zero fields mean the defaults
	Labels     map[string]string // the caller's own, repeated in Status
}

// RemoteTLS says how a service is authenticated and how it authenticates us. The files
// are PEM and are read at each connect, so they can be replaced at any time.
type RemoteTLS struct {
	CA         string // path of the authorities that the server's certificate may be of; "" = the system's
	Cert       string // path of the authorities that may sign the server's certificate; "" = the system's
	Key        string // path of the client certificate and its intermediates; "" = none
	ServerName string // in the server's certificate; "" = the address's host
}

// RestartPolicy says how often a plugin that ended, or did not start, is started again. A service is
// reconnected without limit: Max and Window do not apply to it. Values out of range are clamped, so
// that no policy restarts a broken plugin forever and none gives up for good.
type RestartPolicy struct {
	Max    int           // restarts within Window, 1 to 100; 3 by default
	Window time.Duration // 10 min by default, at least 1 s
	First  time.Duration // the first backoff, 250 ms by default, at least 10 ms; it doubles
	Most   time.Duration // the longest backoff, 5 s by default
}

// BreakerPolicy says when a plugin that runs but keeps failing is left alone. Values
// out of range are clamped.
type BreakerPolicy struct {
	After int           // failures in a row, 1 to 20; 3 by default
	Open  time.Duration // the first pause, 1 min by default, at least 100 ms; it doubles with each failed trial
	Most  time.Duration // the longest pause, 10 min by default
}

// Limits bound the resources of a plugin's processes, as far as the system supports
// it; see docs/security.md.
type Limits struct {
	Memory    int64 // bytes, of all its processes together; 256 MiB by default
	Processes int   // 64 by default, plus 16 for each CPU; threads count, too, where the kernel counts
	Files     int   // open files per process; 256 by default
	FileSize  int64 // bytes in a file that it writes; 64 MiB by default
}

func (p RestartPolicy) orDefaults() RestartPolicy {
	p.Max = between(p.Max, 3, 1, 100)
	p.Window = between(p.Window, 10*time.Minute, time.Second, 24*time.Hour)
	p.First = between(p.First, 250*time.Millisecond, 10*time.Millisecond, time.Hour)
	p.Most = between(p.Most, max(5*time.Second, p.First), p.First, time.Hour)
	return p
}

func (p BreakerPolicy) orDefaults() BreakerPolicy {
	p.After = between(p.After, 3, 1, 20)
	p.Open = between(p.Open, time.Minute, 100*time.Millisecond, 24*time.Hour)
	p.Most = between(p.Most, max(10*time.Minute, p.Open), p.Open, 24*time.Hour)
	return p
}

func (l Limits) orDefaults() Limits {
	l.Memory = between(l.Memory, 256<<20, 16<<20, 1<<50)
	l.Processes = between(l.Processes, 64+16*runtime.NumCPU(), 8, 1<<20)
	l.Files = between(l.Files, 256, 32, 1<<20)
	l.FileSize = between(l.FileSize, 64<<20, 1<<20, 1<<50)
	return l
}

// between clamps v to its bounds, or returns usual if v is not set.
func between[N int | int64 | time.Duration](v, usual, least, most N) N {
	if v <= 0 {
		return usual
	}
	return min(max(v, least), most)
}

// State says what a plugin is doing.
type State string

// The states.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateBackoff  State = "backoff"  // ended or did not start; started again when asked later
	StateTripped  State = "tripped"  // not asked for a while; LastError says why
	StateStopped  State = "stopped"  // not started yet, or closed
	StateDisabled State = "disabled" // a person disabled it
)

// The states of a circuit breaker.
const (
	BreakerClosed   = "closed"
	BreakerOpen     = "open"
	BreakerHalfOpen = "half-open" // the next call is a trial, or one is under way
)

// Status is what is known about a plugin. Its strings hold no control characters,
// except that LastError may have several lines.
type Status struct {
	Name       string            `json:"name"`
	Version    string            `json:"version,omitempty"`
	Language   string            `json:"language,omitempty"` // as far as its command shows
	State      State             `json:"state"`
	PID        int               `json:"pid,omitempty"`
	Address    string            `json:"address,omitempty"` // of a service, which has no PID and no Hash
	HostPID    int               `json:"hostPid"`
	Hash       string            `json:"hash,omitempty"` // SHA-256 in hex: of its executable, or of its folder if it is pinned
	Pinned     bool              `json:"pinned,omitempty"`
	FailClosed bool              `json:"failClosed,omitempty"`
	Restarts   int               `json:"restarts"`
	Breaker    string            `json:"breaker"` // closed, open or half-open
	LastError  string            `json:"lastError,omitempty"`
	P50        failure.Millis    `json:"p50Ms"` // of the last 256 answers
	P99        failure.Millis    `json:"p99Ms"`
	Labels     map[string]string `json:"labels,omitempty"`
	Disabled   *Disabled         `json:"disabled,omitempty"` // nil = it is not disabled

	ServerCertEnds time.Time `json:"serverCertEnds,omitzero"` // expiry; for a service that is connected with TLS
	ClientCertEnds time.Time `json:"clientCertEnds,omitzero"` // expiry; for the certificate that it was shown
}
