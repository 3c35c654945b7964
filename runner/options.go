package runner

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
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
// model and no plugin, and only suggests: see each option.
func New(options ...Option) *Runner {
	r := &Runner{
		models: named{}, hooks: func() []hooks.Named { return nil }, tools: func() []Tool { return nil }, health: health.New(),
		policy: recovery.DefaultPolicy(), owner: newOwner(),
		classify: failure.Classify, now: time.Now, slept: systemSlept, logger: slog.New(slog.DiscardHandler),
		minTimeout: recovery.MinTimeout, leaseTTL: leaseTTL,
	}
	for _, option := range options {
		option(r)
	}
	if r.log == nil {
		r.log = timeline.NewMemory()
	}
	return r
}

// newOwner names a Runner, unlike any other there ever was: in containers every process is
// number 1. Two of one process are two owners: neither may go on with a run that the other drives.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:10])
}

// WithModel adds a model under its full name, provider/model. The first one is
// what runs start with, and all are what they may be switched to. An llm.Capable is not
// switched to where it lacks what the conversation uses.
func WithModel(name string, model llm.Model) Option {
	return func(r *Runner) {
		all, ok := r.models.(named)
		if !ok {
			all = named{}
		}
		all[name] = model
		r.models = all
		if r.model == "" {
			r.model = name
		}
		if !slices.Contains(r.policy.Models, name) {
			r.policy.Models = append(r.policy.Models, name)
		}
	}
}

// WithModels says where models are found, what runs start with, and what they may
// be switched to, in order of preference.
func WithModels(models Models, model string, fallbacks ...string) Option {
	return func(r *Runner) {
		r.models, r.model = models, model
		r.policy.Models = append([]string{model}, fallbacks...)
	}
}

// WithAutoRecover lets the runner act on decisions itself; the default is to offer
// them as suggestions.
func WithAutoRecover(on bool) Option {
	return func(r *Runner) { r.policy.AutoRecover = on }
}

// WithPolicy changes the policy that runs start with. Start from what is there:
// zero timers are off. Its timers are what is built in, below those of WithTimeouts.
func WithPolicy(change func(*recovery.Policy)) Option {
	return func(r *Runner) { change(&r.policy) }
}

// WithDayBudget bounds what all runs use together that the Health counts, by the day of
// this machine's time zone; zero fields are unlimited. A run that finds it used up fails,
// and may be offered to go on tomorrow. With WithPolicy's Budget each run has its own.
func WithDayBudget(limit recovery.Budget) Option {
	return func(r *Runner) { r.policy.DayBudget = limit }
}

// WithHook adds a hook that is asked about failures, in order of precedence.
func WithHook(name string, hook hooks.Hook) Option {
	return func(r *Runner) {
		before := r.hooks
		r.hooks = func() []hooks.Named { return append(slices.Clip(before()), hooks.Named{Name: name, Hook: hook}) }
	}
}

// WithHooks adds hooks that are looked up at every failure, as a host's plugins are.
func WithHooks(list func() []hooks.Named) Option {
	return func(r *Runner) {
		before := r.hooks
		r.hooks = func() []hooks.Named { return append(slices.Clip(before()), list()...) }
	}
}

// WithTools adds tools that models may use.
func WithTools(tools ...Tool) Option {
	return WithToolsFrom(func() []Tool { return tools })
}

// WithToolsFrom adds tools that are looked up whenever a run begins or is gone on with, as
// those of servers are. A run that is going on keeps what it has.
func WithToolsFrom(list func() []Tool) Option {
	return func(r *Runner) {
		before := r.tools
		r.tools = func() []Tool { return append(slices.Clip(before()), list()...) }
	}
}

// WithSystem sets the system text.
func WithSystem(text string) Option {
	return func(r *Runner) { r.system = text }
}

// WithHandOver has the runs that it begins, or goes on with at a person's answer, driven by whoever
// keeps the log (see Keep): what begins or answers them is written, and they are let go of at once.
// Their Wait says ErrLetGo. Runs with a Call, whose caller waits here, are driven here all the same.
func WithHandOver() Option {
	return func(r *Runner) { r.handsOver = true }
}

// WithLease says how long a run is its owner's that is not heard of; the default is 15 s. It is kept
// five times in that. What a process drives that dies goes to others after it, unless the log knows
// that sooner; one that stands still for longer may find its runs taken.
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

// WithClassifier has by name every error that a model returns and that is no failure.Failure yet,
// instead of failure.Classify: for rows of somebody's own (failure.Local), which may be others
// from one failure to the next. provider.WithClassifier does the same for the models of a
// provider.Set.
func WithClassifier(by failure.Classifier) Option {
	return func(r *Runner) { r.classify = by }
}

// WithLogger says where the runner's own log goes; the default is nowhere. No
// prompt, answer or tool text is ever logged.
func WithLogger(logger *slog.Logger) Option {
	return func(r *Runner) { r.logger = logger }
}

// WithTimeouts sets timers of all runs, over what is built in and below what a run
// sets itself. Start refuses a value that is out of range: see recovery.Settings.
func WithTimeouts(set recovery.Settings) Option {
	set = maps.Clone(set)
	return func(r *Runner) { r.settings = set }
}

// WithTimeoutsFor gives the timers of a model, where run is what somebody set for the
// one run. It takes the place of WithTimeouts where models or their providers have
// timers of their own; recovery.ResolveTimeouts helps. It is called once per model
// and run, when the run starts.
func WithTimeoutsFor(resolve func(model string, run recovery.Settings) recovery.Timeouts) Option {
	return func(r *Runner) { r.timeouts = resolve }
}

// WithMinTimeout lets timers be set to less than a second (recovery.MinTimeout), as
// only tests want them.
func WithMinTimeout(least time.Duration) Option {
	return func(r *Runner) { r.minTimeout = least }
}

// WithHookDeadlines bounds how long hooks may take; zero fields are the defaults.
func WithHookDeadlines(d hooks.Deadlines) Option {
	return func(r *Runner) { r.deadlines = d }
}

// WithConnectivity lets runs that recover by themselves wait for the network where this
// machine has none; without it every failure is the provider's.
func WithConnectivity(c Connectivity) Option {
	return func(r *Runner) { r.connectivity = c }
}

// WithDetached lets runs outlive whoever starts, resumes or recovers them, as a server's runs
// outlive the requests that began them: they go on until they settle or ctx ends, with the
// meaning that Start gives to the end of its own. The context of Start then bounds the start
// alone, and its values are the run's. A run that Keep goes on with is let go of when that
// ends, as ever. Follow and Inspect find a run by its id, Cancel ends it.
func WithDetached(ctx context.Context) Option {
	return func(r *Runner) { r.detached = ctx }
}

// WithClock replaces the wall clock. A run that is driven reads it once and follows the
// monotonic clock from then on; parked ones go by it.
func WithClock(now func() time.Time) Option {
	return func(r *Runner) { r.now = now }
}

// WithSleep replaces what the system says about how long this computer has slept since it
// was started.
func WithSleep(slept func() time.Duration) Option {
	return func(r *Runner) { r.slept = slept }
}

// named are the models that an embedder added one by one.
type named map[string]llm.Model

// Model finds a model.
func (n named) Model(name string) (llm.Model, error) {
	if m, ok := n[name]; ok {
		return m, nil
	}
	return nil, fmt.Errorf("model %q is not known; there are: %s", name, strings.Join(sortedKeys(n), ", "))
}

// Has reports whether there is such a model.
func (n named) Has(name string) bool { return n[name] != nil }

// Capabilities is what a model says of itself.
func (n named) Capabilities(name string) llm.Capabilities {
	if m, ok := n[name].(llm.Capable); ok {
		return m.Capabilities()
	}
	return llm.Capabilities{}
}
