package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Plugin is a recovery plugin and its status.
type Plugin struct {
	Name       string       `json:"name"`
	Version    string       `json:"version"`
	State      string       `json:"state"` // starting, ready, backoff, tripped, disabled or stopped
	LastError  string       `json:"lastError"`
	Shadow     bool         `json:"shadow"`
	Pinned     bool         `json:"pinned"`     // it starts only if its files match its pin
	FailClosed bool         `json:"failClosed"` // no model call begins without its answer: it cannot be disabled
	Restarts   int          `json:"restarts"`
	P50        int64        `json:"p50Ms"` // median of its last answers, in milliseconds
	P99        int64        `json:"p99Ms"`
	Votes      *PluginVotes `json:"votes"`    // nil = it was never asked
	Disabled   *DisabledBy  `json:"disabled"` // nil = it is not disabled
	Said       []string     `json:"said"`     // the last lines that it wrote to standard error
}

// PluginVotes counts what happened to a plugin's votes since then.
type PluginVotes struct {
	Since          time.Time `json:"since"`
	Won            int64     `json:"won"`       // its vote was carried out
	Agreed         int64     `json:"agreed"`    // another plugin's vote was taken, which said the same
	Overruled      int64     `json:"overruled"` // something else was done
	Silent         int64     `json:"silent"`    // it had no opinion
	Failed         int64     `json:"failed"`    // it gave no answer, or an invalid one
	TrialAgreed    int64     `json:"trialAgreed"`
	TrialDisagreed int64     `json:"trialDisagreed"`
}

// DisabledBy says who disabled a plugin, and when.
type DisabledBy struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Providers is how the providers perform, as the gateway's process has counted since
// then.
type Providers struct {
	Since     time.Time       `json:"since"`
	Spent     recovery.Budget `json:"spent"`  // today: by the process's runs or, if there is a day's budget, by all runs
	Budget    recovery.Budget `json:"budget"` // for the day; zero = none
	Providers []Provider      `json:"providers"`
}

// Provider is a provider entry and its models.
type Provider struct {
	Name    string             `json:"name"`
	Title   string             `json:"title"`   // for people
	Queued  int                `json:"queued"`  // calls that wait for their turn
	Cooling *recovery.Cooldown `json:"cooling"` // of all its models; nil = none
	Models  []ModelCalls       `json:"models"`
}

// ModelCalls counts the outcomes of a model's calls.
type ModelCalls struct {
	Name         string             `json:"name"`
	Ready        bool               `json:"ready"`
	Calls        int64              `json:"calls"` // answered or failed
	Failed       int64              `json:"failed"`
	Failures     []KindCount        `json:"failures"` // most frequent first
	InAir        int                `json:"inAir"`
	P50          failure.Millis     `json:"firstP50Ms"` // time to the first event of an answer, of the last 256 answers
	P95          failure.Millis     `json:"firstP95Ms"`
	Cooling      *recovery.Cooldown `json:"cooling"` // nil = none
	Tokens       int64              `json:"tokensToday"`
	Microdollars int64              `json:"microdollarsToday"`
}

// KindCount is how many calls failed in one way.
type KindCount struct {
	Kind  failure.Kind `json:"kind"`
	Calls int64        `json:"calls"`
}

// Plugins lists the recovery plugins.
func (c *Client) Plugins(ctx context.Context) ([]Plugin, error) {
	var out struct{ Plugins []Plugin }
	err := c.do(ctx, http.MethodGet, "/v1/plugins", nil, nil, &out)
	return out.Plugins, err
}

// ActOnPlugin restarts, disables or enables ("restart", "disable", "enable") a plugin of the gateway's
// process, and returns its status afterwards. A Problem with status 409 says why it cannot be done.
func (c *Client) ActOnPlugin(ctx context.Context, name, act string) (Plugin, error) {
	var out Plugin
	err := c.do(ctx, http.MethodPost, "/v1/plugins/"+url.PathEscape(name)+"/"+url.PathEscape(act), nil, nil, &out)
	return out, err
}

// Providers returns how the providers perform.
func (c *Client) Providers(ctx context.Context) (Providers, error) {
	var out Providers
	err := c.do(ctx, http.MethodGet, "/v1/providers", nil, nil, &out)
	return out, err
}
