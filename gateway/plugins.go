package gateway

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Plugin is a recovery plugin and its status.
type Plugin struct {
	Name       string       `json:"name"`
	Version    string       `json:"version,omitempty"`
	State      string       `json:"state" doc:"starting, ready, backoff (it died, and is started again when it is asked), tripped (it is not asked for a while), disabled (by a person) or stopped"`
	Since      time.Time    `json:"since,omitzero"`
	LastError  string       `json:"lastError,omitempty"`
	Shadow     bool         `json:"shadow,omitempty" doc:"It is asked on trial: its votes never count."`
	Pinned     bool         `json:"pinned,omitempty" doc:"It starts only as the program that was pinned."`
	FailClosed bool         `json:"failClosed,omitempty" doc:"No model call begins without its answer, so that it cannot be disabled here."`
	Restarts   int          `json:"restarts,omitempty" doc:"How often it was started again."`
	P50        int64        `json:"p50Ms,omitempty" doc:"Half of its last 256 answers came within that many milliseconds."`
	P99        int64        `json:"p99Ms,omitempty" doc:"And 99 of 100 within that many."`
	Votes      *PluginVotes `json:"votes,omitempty" doc:"What became of what it said about failures; absent where it was not asked."`
	Disabled   *DisabledBy  `json:"disabled,omitempty"`
	Said       []string     `json:"said,omitempty" doc:"The last lines that it wrote to standard error, at most 10, without keys."`
}

// PluginVotes counts what happened to a plugin's votes, in the last 24 hours or since this process
// began.
type PluginVotes struct {
	Since          time.Time `json:"since"`
	Won            int64     `json:"won" doc:"It was done."`
	Agreed         int64     `json:"agreed" doc:"Another plugin's vote was taken, which said the same."`
	Overruled      int64     `json:"overruled" doc:"Something else was done."`
	Silent         int64     `json:"silent" doc:"It had no opinion."`
	Failed         int64     `json:"failed" doc:"It gave no answer, or none that is valid."`
	TrialAgreed    int64     `json:"trialAgreed" doc:"On trial, it said what was done."`
	TrialDisagreed int64     `json:"trialDisagreed" doc:"On trial, it said something else."`
}

// DisabledBy says who disabled a plugin.
type DisabledBy struct {
	By string    `json:"by" doc:"A browser or a program, by the beginning of a digest of what it was let in with; never that itself."`
	At time.Time `json:"at"`
}

// PluginAct is something that a person does to a plugin of this process.
type PluginAct string

// What can be done to a plugin.
const (
	PluginRestart PluginAct = "restart"
	PluginDisable PluginAct = "disable"
	PluginEnable  PluginAct = "enable"
)

// ErrNoPlugin says that there is no plugin of that name (HTTP 404). Any other error of
// Config.Plugin says why nothing was done (HTTP 409).
var ErrNoPlugin = errors.New("there is no plugin of that name here: GET /v1/plugins lists them")

type pluginsOutput struct {
	Body struct {
		Plugins []Plugin `json:"plugins"`
	}
}

// PluginPath names a plugin.
type PluginPath struct {
	Name string `path:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" doc:"The plugin's name, as GET /v1/plugins lists it." example:"auto-recover"`
}

type pluginOutput struct{ Body Plugin }

func (g *Gateway) registerPlugins() {
	register(g, huma.Operation{
		OperationID: "list-plugins", Method: http.MethodGet, Path: "/v1/plugins", Summary: "The recovery plugins and how they are", Tags: []string{"things"},
	}, func(context.Context, *struct{}) (*pluginsOutput, error) {
		out := &pluginsOutput{}
		out.Body.Plugins = orEmpty(g.cfg.Plugins)
		return out, nil
	})
	const here = " It is about the plugins of this process, is written to the plugin's log with who wanted it, and is forgotten when the process ends. 409: it cannot be done, and why."
	for act, op := range map[PluginAct]huma.Operation{
		PluginRestart: {
			Summary:     "Start a plugin anew",
			Description: "A new process is started beside the old one and asked from then on; questions that the old one has are answered. If the new one does not start, the old one stays." + here,
		},
		PluginDisable: {
			Summary:     "Ask a plugin no more, until it is enabled or this process begins anew",
			Description: "Questions that it has are answered, for up to 5 s. From then on it has no vote, in runs under way as in new ones; the timeline says so at each failure." + here,
		},
		PluginEnable: {
			Summary:     "Ask a plugin again that was disabled",
			Description: "It is started; what counted against it before does not count any more." + here,
		},
	} {
		op.OperationID, op.Method, op.Path, op.Tags = string(act)+"-plugin", http.MethodPost, "/v1/plugins/{name}/"+string(act), []string{"things"}
		op.Errors = []int{http.StatusNotFound, http.StatusConflict}
		register(g, op, func(ctx context.Context, in *PluginPath) (*pluginOutput, error) {
			return g.actOnPlugin(ctx, in.Name, act)
		})
	}
}

func (g *Gateway) actOnPlugin(ctx context.Context, name string, act PluginAct) (*pluginOutput, error) {
	if g.cfg.Plugin == nil {
		return nil, huma.Error404NotFound(ErrNoPlugin.Error())
	}
	by := whoAsks(ctx)
	err := g.cfg.Plugin(ctx, name, act, by)
	switch {
	case errors.Is(err, ErrNoPlugin):
		return nil, huma.Error404NotFound(ErrNoPlugin.Error())
	case err != nil:
		g.cfg.Logger.Warn("a plugin stays as it is", "plugin", name, "act", string(act), "by", by, "err", err)
		return nil, huma.Error409Conflict(clip(err.Error(), maxMessage))
	}
	g.cfg.Logger.Info("a person acted on a plugin", "plugin", name, "act", string(act), "by", by)
	for _, p := range orEmpty(g.cfg.Plugins) {
		if p.Name == name {
			return &pluginOutput{p}, nil
		}
	}
	return nil, huma.Error404NotFound(ErrNoPlugin.Error())
}

// whoAsks names the sender of a request for a log: the kind of client, and the beginning of
// its session's or token's digest, which tells clients apart.
func whoAsks(ctx context.Context) string {
	const short = 4 // bytes
	c, ok := ctx.Value(callerKey{}).(caller)
	switch {
	case !ok:
		return "a program"
	case c.session != "":
		digest := DigestOf(c.session)
		return "a browser (session " + hex.EncodeToString(digest[:short]) + ")"
	}
	return "a program (token " + hex.EncodeToString(c.token[:short]) + ")"
}
