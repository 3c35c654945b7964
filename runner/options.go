package runner

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Option configures a Runner.
type Option func(*Runner)

// New makes a Runner. Without options it keeps its timeline in memory, has no
// model and no plugin, and only suggests: see each option. An option that is given nil leaves its
// default.
func New(options ...Option) *Runner {
	r := &Runner{
		hooks: func() []hooks.Named { return nil }, tools: func() []Tool { return nil },
		policy: recovery.DefaultPolicy(), owner: newOwner(), minTimeout: recovery.MinTimeout, leaseTTL: leaseTTL,
	}
	for _, option := range options {
		option(r)
	}
	r.fillIn()
	return r
}

// fillIn sets what no option has set.
func (r *Runner) fillIn() {
	if r.models == nil {
		r.models = named{}
	}
	if r.log == nil {
		r.log = timeline.NewMemory()
	}
	if r.health == nil {
		r.health = health.New()
	}
	if r.classify == nil {
		r.classify = failure.Classify
	}
	if r.logger == nil {
		r.logger = slog.New(slog.DiscardHandler)
	}
	if r.slept == nil {
		r.slept = systemSlept
	}
	if r.now == nil {
		r.now = timeline.ClockOf(r.log)
	}
}

// newOwner makes an owner's name that no Runner has ever had: in containers every process has
// number 1. Two Runners in one process are two owners, and neither may resume a run that the other
// drives.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:10])
}

// WithModel adds a model under its full name, provider/model, also to those of a WithModels before
// it. Runs start with the first one and may be switched to any. A run is not switched to an
// llm.Capable that lacks something the conversation uses.
func WithModel(name string, model llm.Model) Option {
	return func(r *Runner) {
		r.models = with(r.models, name, model)
		if r.model == "" {
			r.model = name
		}
		if !slices.Contains(r.policy.Models, name) {
			r.policy.Models = append(r.policy.Models, name)
		}
	}
}

// WithModels says where models are found, which model runs start with, and which they may be
// switched to, in order of preference. It replaces models that were added before it.
func WithModels(models Models, model string, fallbacks ...string) Option {
	return func(r *Runner) {
		r.models, r.model = models, model
		r.policy.Models = append([]string{model}, fallbacks...)
	}
}

// WithAutoRecover makes the runner carry out decisions automatically; by default it offers them as
// suggestions.
func WithAutoRecover(on bool) Option {
	return func(r *Runner) { r.policy.AutoRecover = on }
}

// WithPolicy changes the policy that runs start with. change gets the current one; timers that are
// zero are off. Its timers are overridden by those of WithTimeouts.
func WithPolicy(change func(*recovery.Policy)) Option {
	return func(r *Runner) {
		if change != nil {
			change(&r.policy)
		}
	}
}

// WithDayBudget limits what all runs counted by the Health use together in a day, in this machine's
// time zone; zero fields are unlimited. A run that finds the budget used up fails, and may be
// offered to go on tomorrow. The Budget of WithPolicy is each run's own.
func WithDayBudget(limit recovery.Budget) Option {
	return func(r *Runner) { r.policy.DayBudget = limit }
}

// WithHook adds a hook that is asked about failures or, if occasions are named, only about those,
// such as recovery.HookBeforeCall. The order in which hooks are added is their precedence. Start
// refuses two of one name for the same occasion.
func WithHook(name string, hook hooks.Hook, occasions ...string) Option {
	return WithHooks(func() []hooks.Named { return []hooks.Named{{Name: name, Hook: hook, Occasions: occasions}} })
}

// WithHooks adds hooks that are looked up whenever one is asked, such as a host's plugins.
func WithHooks(list func() []hooks.Named) Option {
	return func(r *Runner) {
		if list == nil {
			return
		}
		before := r.hooks
		r.hooks = func() []hooks.Named { return append(slices.Clip(before()), list()...) }
	}
}

// WithTools adds tools that models may use.
func WithTools(tools ...Tool) Option {
	return WithToolsFrom(func() []Tool { return tools })
}

// WithToolsFrom adds tools that are looked up whenever a run begins or is resumed, such as those of
// tool servers. A run in progress keeps the tools that it has.
func WithToolsFrom(list func() []Tool) Option {
	return func(r *Runner) {
		if list == nil {
			return
		}
		before := r.tools
		r.tools = func() []Tool { return append(slices.Clip(before()), list()...) }
	}
}

// WithSystem sets the system text.
func WithSystem(text string) Option {
	return func(r *Runner) { r.system = text }
}

// WithHandOver leaves the driving of runs to a process that keeps the log (see Keep): Start and
// Recover write what begins or answers a run, and release it immediately. Its Wait returns
// ErrLetGo. Runs with a Call, whose callers wait here, are driven here nevertheless.
func WithHandOver() Option {
	return func(r *Runner) { r.handsOver = true }
}

// WithLease says how long a run belongs to an owner that no longer renews its lease; the default is
// 15 s. The lease is renewed five times per ttl. If a process dies, others may take its runs after
// ttl, unless the log knows earlier. A process that stands still for longer may lose its runs.
func WithLease(ttl time.Duration) Option {
	return func(r *Runner) { r.leaseTTL = ttl }
}

// WithLog says where the timeline is kept; the default is in memory.
func WithLog(log timeline.Log) Option {
	return func(r *Runner) { r.log = log }
}

// WithHealth shares what is known about models with other runners.
func WithHealth(h Health) Option {
	return func(r *Runner) { r.health = h }
}

// WithClassifier replaces failure.Classify for errors of models that are not a failure.Failure yet.
// It is for a table of one's own (failure.Local), which may change between failures.
// provider.WithClassifier does the same for the models of a provider.Set.
func WithClassifier(by failure.Classifier) Option {
	return func(r *Runner) { r.classify = by }
}

// WithLogger says where the runner's own log goes; the default is nowhere. No prompt, answer or
// tool text is ever logged.
func WithLogger(logger *slog.Logger) Option {
	return func(r *Runner) { r.logger = logger }
}

// WithTimeouts sets timers of all runs, which override the built-in ones and are overridden by
// those of a single run. Start refuses a value out of range: see recovery.Settings.
func WithTimeouts(set recovery.Settings) Option {
	set = maps.Clone(set)
	return func(r *Runner) { r.settings = set }
}

// WithTimeoutsFor gives the timers of a model; run holds the settings of the single run. It
// replaces WithTimeouts if models or their providers have timers of their own;
// recovery.ResolveTimeouts helps. It is called once per model and run, when the run starts.
func WithTimeoutsFor(resolve func(model string, run recovery.Settings) recovery.Timeouts) Option {
	return func(r *Runner) { r.timeouts = resolve }
}

// WithMinTimeout allows timers of less than a second (recovery.MinTimeout), for tests.
func WithMinTimeout(least time.Duration) Option {
	return func(r *Runner) { r.minTimeout = least }
}

// WithHookDeadlines bounds how long hooks may take; zero fields mean the defaults.
func WithHookDeadlines(d hooks.Deadlines) Option {
	return func(r *Runner) { r.deadlines = d }
}

// WithConnectivity lets runs that recover automatically wait for the network while this machine has
// none; without it every failure counts as the provider's.
func WithConnectivity(c Connectivity) Option {
	return func(r *Runner) { r.connectivity = c }
}

// WithDetached lets runs outlive the context that starts, resumes or recovers them, as a server's
// runs outlive the requests that began them: they go on until they settle or ctx ends, which cancels
// them, or only releases them if its cause is ErrLetGo. Start's context then only limits the start,
// and the run keeps its values. A run that Keep resumed is still released when Keep ends. Follow
// and Inspect find a run by its id, and Cancel ends it.
func WithDetached(ctx context.Context) Option {
	return func(r *Runner) { r.detached = ctx }
}

// WithClock replaces the wall clock: the log's where it is a timeline.Clocked, else this machine's.
// A run that is driven reads it once and follows the monotonic clock from then on; parked runs go
// by it.
func WithClock(now func() time.Time) Option {
	return func(r *Runner) { r.now = now }
}

// WithSleep replaces the system's answer to how long this computer has slept since it was started.
func WithSleep(slept func() time.Duration) Option {
	return func(r *Runner) { r.slept = slept }
}
