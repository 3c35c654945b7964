package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

func newDoctor() *cobra.Command {
	var (
		f      common
		model  string
		limits []string
		timers bool
		audit  bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Explain what is configured, what is missing, and how to get it",
		Long: "Check the config, the keys, the proxies, the state folder and the plugins. No provider is asked anything;\n" +
			"a proxy (HTTPS_PROXY, or proxy: of a provider) is asked for a connection, over which nothing is sent.\n" +
			"Exit code 0 if a run can start, 1 if something is missing or broken, 2 if the config is wrong.\n\n" +
			"--timers prints nothing but the timers that a run of the model would have, and who set them.\n" +
			"--audit looks at nothing but what keeps others out: where a running gateway listens, its token, who can\n" +
			"read the state, and who could replace a plugin.",
		Example: `mulligan doctor

# Why does this model get five minutes?
mulligan doctor --timers --model ollama/qwen3`,
		Args: cobra.NoArgs,
		RunE: f.loaded(func(cmd *cobra.Command, a *app, _ []string) error {
			d := &doctor{app: a, screen: &screen{out: a.screen.out, err: a.screen.out, ink: wantsColour(a.screen.liveOut)}}
			if err := d.assume(model, limits); err != nil {
				return usage(err)
			}
			if timers {
				return d.timers()
			}
			if audit {
				return d.audit()
			}
			return d.examine(cmd.Context())
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&timers, "timers", false, "print the timers of the model, and where each comes from")
	cmd.Flags().BoolVar(&audit, "audit", false, "look at what keeps others out; exit code 1 if something is wrong")
	cmd.MarkFlagsMutuallyExclusive("timers", "audit")
	cmd.Flags().StringVar(&model, "model", "", "the model, as provider/model, as if a run were given it")
	cmd.Flags().StringArrayVar(&limits, "timeout", nil, "as if a run were given it: "+timeoutsUsage())
	return cmd
}

// doctor prints findings.
type doctor struct {
	*app
	screen   *screen
	settings recovery.Settings // as a run would be given them
	missing  int
}

// assume takes flags as a run would be given them.
func (d *doctor) assume(model string, limits []string) (err error) {
	if model != "" {
		if err := d.config.setModel(model); err != nil {
			return fmt.Errorf("--model: %w", err)
		}
	}
	d.settings, err = parseTimeouts(limits)
	return err
}

// timers prints the timers of the model that a run would begin with.
func (d *doctor) timers() error {
	models, err := newModels(d.config)
	if err != nil {
		return usage(err)
	}
	defer models.close()
	if err := models.choose(d.config); err != nil {
		return usage(err)
	}
	return d.config.showTimeouts(d.screen.out, models, d.config.Model, d.settings)
}

func (d *doctor) good(format string, args ...any) {
	d.screen.line(d.screen.ink.green("✓ ") + oneLine(fmt.Sprintf(format, args...)))
}

func (d *doctor) note(format string, args ...any) {
	d.screen.line(d.screen.ink.amber("! ") + oneLine(fmt.Sprintf(format, args...)))
}

func (d *doctor) bad(help, format string, args ...any) {
	d.missing++
	d.screen.line(d.screen.ink.red("✗ ") + oneLine(fmt.Sprintf(format, args...)))
	d.screen.line("    " + help)
}

func (d *doctor) examine(ctx context.Context) error {
	d.good("mulligan %s", version())
	d.file()
	d.providers(ctx)
	d.state(ctx)
	d.cooling()
	if err := d.startPlugins(ctx); err != nil {
		return err
	}
	d.pluginsStart()
	if err := d.mcpServers(ctx); err != nil {
		return err
	}
	if d.missing > 0 {
		d.screen.line("")
		d.screen.line(plural(d.missing, "thing is", "things are") + " missing or broken. Without any key: " + invoked() + " demo")
		return &exitError{code: exitFailed}
	}
	return nil
}

func (d *doctor) file() {
	if d.config.path == "" {
		d.good("config: none, the defaults hold (looked for %s)", strings.Join(usualConfigs(os.Getenv), ", "))
		return
	}
	d.good("config: %s", d.config.path)
}

func (d *doctor) providers(ctx context.Context) {
	models, err := newModels(d.config)
	if err != nil {
		d.bad("correct it there", "providers: %v", err)
		return
	}
	defer models.close()
	d.models(ctx, models)
	d.proxies(ctx, models)
	d.limits(models)
	d.budget()
}

func (d *doctor) models(ctx context.Context, models *models) {
	for _, e := range models.set.Entries() {
		if _, own := d.config.Providers[e.Name]; own {
			d.provider(e)
		} else if e.KeyEnv != "" && os.Getenv(e.KeyEnv) != "" {
			d.good("key: %s is set (%s)", e.KeyEnv, e.Name)
		}
	}
	d.good("providers that need no configuration: %s", knownProviders())
	if err := models.choose(d.config); err != nil {
		d.bad("for example: export ANTHROPIC_API_KEY=… (console.anthropic.com), OPENAI_API_KEY=… (platform.openai.com), GEMINI_API_KEY=… (aistudio.google.com) or OPENROUTER_API_KEY=… (openrouter.ai)", "model: %v", err)
		return
	}
	for i, name := range append([]string{d.config.Model}, d.config.Fallbacks...) {
		role := "model"
		if i > 0 {
			role = "fallback"
		}
		entry, _, _ := strings.Cut(name, "/")
		if warning := models.set.Warning(ctx, entry); warning != "" {
			d.note("%s: %s", role, warning)
			continue
		}
		if !models.Has(name) {
			d.bad("set the key of "+oneLine(name)+" in the environment", "%s: %s has no key", role, name)
			continue
		}
		d.good("%s: %s", role, name)
	}
	if len(d.config.Fallbacks) == 0 {
		d.note("no fallback is configured: a failing model can be retried, but not replaced (--fallback, or fallbacks: in the config)")
	}
}

func (d *doctor) provider(e provider.Entry) {
	if e.Type == provider.TypePi {
		d.good("provider %s: the program %s", e.Name, orElse(strings.Join(e.Engine.Command, " "), e.Type))
		return
	}
	where := orElse(e.BaseURL, "its usual address")
	if e.KeyEnv != "" && os.Getenv(e.KeyEnv) == "" {
		d.note("provider %s at %s: %s is not set", e.Name, where, e.KeyEnv)
		return
	}
	d.good("provider %s at %s", e.Name, where)
}

// knownProviders says what each known provider needs: its key, a server, or a program.
func knownProviders() string {
	var list []string
	for _, k := range provider.Known() {
		needs := orElse(k.KeyEnv, k.BaseURL)
		list = append(list, k.Name+" ("+orElse(needs, "the program "+k.Name)+")")
	}
	return strings.Join(list, ", ")
}

func (d *doctor) limits(models *models) {
	t := d.config.timeoutsOf(models, d.config.Model, d.settings)
	var set []string
	for _, timer := range recovery.SettableTimers() {
		if v := *t.Of(timer); v > 0 {
			set = append(set, string(timer)+" "+spellLimit(v))
		}
	}
	d.good("auto-recover is %s; timeouts: %s (where they come from: %s)", onOff(d.config.AutoRecover), strings.Join(set, ", "), d.hint("doctor --timers"))
	for _, name := range append([]string{d.config.Model}, d.config.Fallbacks...) {
		idle := d.config.timeoutsOf(models, name, d.settings).Idle
		if t.Step > 0 && idle > 0 && t.Step < idle {
			d.note("step (%s) is shorter than idle (%s) of %s: its idle can never fire", spellLimit(t.Step), spellLimit(idle), orElse(name, "a model"))
		}
	}
}

func (d *doctor) state(ctx context.Context) {
	info, err := os.Stat(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		d.good("state: %s, will be made by the first run", d.dir)
		return
	}
	if err != nil {
		d.bad("choose another folder with --state", "state: %v", err)
		return
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		d.note("state: others can look into %s (mode %04o): chmod 700 %s", d.dir, mode, shellQuote(d.dir))
	}
	log, err := sqlite.Open(ctx, d.dir)
	if err != nil {
		d.bad("correct that, or choose another folder with --state", "state: %v", err)
		return
	}
	if err := log.Close(); err != nil {
		d.bad("choose another folder with --state", "state: %v", err)
		return
	}
	d.good("state: %s", d.dir)
}

// cooling lists what is left out for a while.
func (d *doctor) cooling() {
	known, err := d.healthFile()
	if err != nil {
		return // the state's own finding says why
	}
	for _, c := range known.All(time.Now()) {
		d.note("%s cools down until %s after %s", c.Model, words.Clock(c.Until, time.Now()), c.Kind)
	}
}

func (d *doctor) pluginsStart() {
	if d.plugins == nil {
		d.note("plugins: none, so failures are final")
		return
	}
	for _, s := range d.plugins.Statuses() {
		switch {
		case s.Address != "":
			d.service(s)
		case s.PID == 0:
			d.bad("see its command in the config, and "+invoked()+" plugin list", "plugin %s does not start: %s", s.Name, s.LastError)
		default:
			d.good("plugin %s %s starts (process %d)", s.Name, s.Version, s.PID)
		}
	}
	d.pins()
}

// pins says which plugins may change unnoticed.
func (d *doctor) pins() {
	for _, p := range d.config.plugins() {
		if p.hasFolder() && d.lock.Plugins[p.Name].SHA256 == "" {
			d.note("plugin %s is not pinned: it runs whatever its folder becomes (%s)", p.Name, d.hint("plugin pin "+p.Name))
		}
	}
}
