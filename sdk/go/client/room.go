package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Plugin is a recovery plugin and how it is.
type Plugin struct {
	Name       string       `json:"name"`
	Version    string       `json:"version"`
	State      string       `json:"state"` // starting, ready, backoff, tripped, disabled or stopped
	LastError  string       `json:"lastError"`
	Shadow     bool         `json:"shadow"`
	Pinned     bool         `json:"pinned"`     // it starts only as the program that was pinned
	FailClosed bool         `json:"failClosed"` // no model call begins without its answer: it cannot be disabled
	Restarts   int          `json:"restarts"`
	P50        int64        `json:"p50Ms"` // of its last answers, in milliseconds
	P99        int64        `json:"p99Ms"`
	Votes      *PluginVotes `json:"votes"`    // nil = it was not asked
	Disabled   *DisabledBy  `json:"disabled"` // nil = it is not
	Said       []string     `json:"said"`     // the last lines that it wrote to standard error
}

// PluginVotes is what became of what a plugin said about failures since then.
type PluginVotes struct {
	Since          time.Time `json:"since"`
	Won            int64     `json:"won"`       // it was done
	Agreed         int64     `json:"agreed"`    // another plugin's vote was taken, which said the same
	Overruled      int64     `json:"overruled"` // something else was done
	Silent         int64     `json:"silent"`    // it had no opinion
	Failed         int64     `json:"failed"`    // it gave no answer, or none that is valid
	TrialAgreed    int64     `json:"trialAgreed"`
	TrialDisagreed int64     `json:"trialDisagreed"`
}

// DisabledBy says who disabled a plugin, and when.
type DisabledBy struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Providers is how the providers do, as the gateway's process has counted since then.
type Providers struct {
	Since     time.Time       `json:"since"`
	Spent     recovery.Budget `json:"spent"`  // today by the process's runs, or of the day's budget by all runs
	Budget    recovery.Budget `json:"budget"` // of the day; zero = there is none
	Providers []Provider      `json:"providers"`
}

// Provider is a provider entry and its models.
type Provider struct {
	Name    string             `json:"name"`
	Title   string             `json:"title"`   // for people
	Queued  int                `json:"queued"`  // calls that wait for their turn
	Cooling *recovery.Cooldown `json:"cooling"` // of all its models; nil = it does not cool down
	Models  []ModelCalls       `json:"models"`
}

// ModelCalls is what became of the calls of a model.
type ModelCalls struct {
	Name         string             `json:"name"`
	Ready        bool               `json:"ready"`
	Calls        int64              `json:"calls"` // that were answered or failed
	Failed       int64              `json:"failed"`
	Failures     []KindCount        `json:"failures"` // the most frequent first
	InAir        int                `json:"inAir"`
	P50          failure.Millis     `json:"firstP50Ms"` // to the first of an answer, of the last 256 that came
	P95          failure.Millis     `json:"firstP95Ms"`
	Cooling      *recovery.Cooldown `json:"cooling"` // nil = it does not cool down
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
// process, and gives how it is then. A Problem with status 409 says why it cannot be done.
func (c *Client) ActOnPlugin(ctx context.Context, name, act string) (Plugin, error) {
	var out Plugin
	err := c.do(ctx, http.MethodPost, "/v1/plugins/"+url.PathEscape(name)+"/"+url.PathEscape(act), nil, nil, &out)
	return out, err
}

// Providers says how the providers do.
func (c *Client) Providers(ctx context.Context) (Providers, error) {
	var out Providers
	err := c.do(ctx, http.MethodGet, "/v1/providers", nil, nil, &out)
	return out, err
}
