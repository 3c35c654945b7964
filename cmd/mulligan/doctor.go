package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline/postgres"
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
		Long: "Check the config, the keys, the proxies, the state folder and the plugins. No provider is contacted;\n" +
			"a proxy (HTTPS_PROXY, or proxy: of a provider) is asked for a connection, over which nothing is sent.\n" +
			"Exit code 0 if a run can start, 1 if something is missing or broken, 2 if the config is wrong.\n\n" +
			"--timers prints only the timers that a run of the model would have, and where each comes from.\n" +
			"--audit checks only what keeps others out: where a running gateway listens, its token, who can\n" +
			"read the state, and who could replace a plugin.",
		Example: `mulligan doctor

# Why does this model get five minutes?
mulligan doctor --timers --model ollama/qwen3`,
		Args: cobra.NoArgs,
		RunE: f.loaded(func(cmd *cobra.Command, a *app, _ []string) error {
			d := &doctor{app: a, screen: a.Screen.OnStdout()}
			if err := d.assume(model, limits); err != nil {
				return exit.Usage(err)
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
	cmd.Flags().BoolVar(&audit, "audit", false, "check only what keeps others out; exit code 1 if something is wrong")
	cmd.MarkFlagsMutuallyExclusive("timers", "audit")
	cmd.Flags().StringVar(&model, "model", "", "the model, as provider/model, as if a run were given it")
	cmd.Flags().StringArrayVar(&limits, "timeout", nil, "as if a run were given it: "+config.TimeoutsUsage())
	return cmd
}

// doctor prints findings.
type doctor struct {
	*app
	screen   *show.Screen
	settings recovery.Settings // those that a run would get
	missing  int
}

// assume takes the flags that a run would get.
func (d *doctor) assume(model string, limits []string) (err error) {
	if model != "" {
		if err := d.Config.SetModel(model); err != nil {
			return fmt.Errorf("--model: %w", err)
		}
	}
	d.settings, err = config.ParseTimeouts(limits)
	return err
}

// timers prints the timers of the model that a run would begin with.
func (d *doctor) timers() error {
	models, err := server.NewModels(d.Config)
	if err != nil {
		return exit.Usage(err)
	}
	defer models.Close()
	if err := models.Choose(d.Config); err != nil {
		return exit.Usage(err)
	}
	return server.ShowTimeouts(d.screen.Out, d.Config, models, d.Config.Model, d.settings)
}

func (d *doctor) good(format string, args ...any) {
	d.screen.Line(d.screen.Ink.Green("✓ ") + terminal.OneLine(fmt.Sprintf(format, args...)))
}

func (d *doctor) note(format string, args ...any) {
	d.screen.Line(d.screen.Ink.Amber("! ") + terminal.OneLine(fmt.Sprintf(format, args...)))
}

func (d *doctor) bad(help, format string, args ...any) {
	d.missing++
	d.screen.Line(d.screen.Ink.Red("✗ ") + terminal.OneLine(fmt.Sprintf(format, args...)))
	d.screen.Line("    " + help)
}

func (d *doctor) examine(ctx context.Context) error {
	d.good("mulligan %s", build.Version())
	d.file()
	d.providers(ctx)
	d.state(ctx)
	d.store(ctx)
	d.cooling(ctx)
	if err := d.StartPlugins(ctx); err != nil {
		return err
	}
	d.pluginsStart()
	if err := d.mcpServers(ctx); err != nil {
		return err
	}
	if d.missing > 0 {
		d.screen.Line("")
		d.screen.Line(show.Plural(d.missing, "thing is", "things are") + " missing or broken. Without any key: " + show.Invoked() + " demo")
		return &exit.Error{Code: exit.CodeFailed}
	}
	return nil
}

func (d *doctor) file() {
	if d.Config.Path == "" {
		d.good("config: none, the defaults hold (looked for %s)", strings.Join(config.UsualPaths(os.Getenv), ", "))
		return
	}
	d.good("config: %s", d.Config.Path)
}

func (d *doctor) providers(ctx context.Context) {
	models, err := server.NewModels(d.Config)
	if err != nil {
		d.bad("correct it there", "providers: %v", err)
		return
	}
	defer models.Close()
	d.models(ctx, models)
	d.proxies(ctx, models)
	d.limits(models)
	d.budget(ctx)
}

func (d *doctor) models(ctx context.Context, models *server.Models) {
	for _, e := range models.Set.Entries() {
		if _, own := d.Config.Providers[e.Name]; own {
			d.provider(e, models)
		} else if place := models.KeyPlace(e.KeyEnv); place != "" {
			d.good("key: %s (%s)", place, e.Name)
		}
	}
	if _, err := models.KeyFile(); err != nil {
		d.bad("keys that were pasted are not used meanwhile", "keys: %v", err)
	}
	d.good("providers that need no configuration: %s", knownProviders())
	if err := models.Choose(d.Config); err != nil {
		if d.Config.Model == "" {
			d.bad("for example: export ANTHROPIC_API_KEY=… (console.anthropic.com), OPENAI_API_KEY=… (platform.openai.com), GEMINI_API_KEY=… (aistudio.google.com) or OPENROUTER_API_KEY=… (openrouter.ai); or choose a model with --model or in mulligan.yaml", "model: none is chosen, and no key is set")
		} else {
			d.bad("choose another with --model or in mulligan.yaml, or add its provider there", "%v", err)
		}
		return
	}
	for i, name := range append([]string{d.Config.Model}, d.Config.Fallbacks...) {
		role := "model"
		if i > 0 {
			role = "fallback"
		}
		entry, _, _ := strings.Cut(name, "/")
		if warning := models.Set.Warning(ctx, entry); warning != "" {
			d.note("%s: %s", role, warning)
			continue
		}
		if !models.Has(name) {
			d.bad("set the key of "+terminal.OneLine(name)+" in the environment, or paste it at the page (mulligan serve --open)", "%s: %s has no key", role, name)
			continue
		}
		d.good("%s: %s", role, name)
	}
	if len(d.Config.Fallbacks) == 0 {
		d.note("no fallback is configured: a failing model can be retried, but not replaced (--fallback, or fallbacks: in the config)")
	}
}

func (d *doctor) provider(e provider.Entry, models *server.Models) {
	if e.Type == provider.TypePi {
		d.good("provider %s: the program %s", e.Name, cmp.Or(strings.Join(e.Engine.Command, " "), e.Type))
		return
	}
	where := cmp.Or(e.BaseURL, "its usual address")
	if place := models.KeyPlace(e.KeyEnv); place != "" {
		where += ", key: " + place
	} else if e.KeyEnv != "" {
		d.note("provider %s at %s: %s is not set", e.Name, where, e.KeyEnv)
		return
	}
	d.good("provider %s at %s", e.Name, where)
}

// knownProviders says what each known provider needs: its key, a server, or a program.
func knownProviders() string {
	var list []string
	for _, k := range provider.Known() {
		needs := cmp.Or(k.KeyEnv, k.BaseURL)
		list = append(list, k.Name+" ("+cmp.Or(needs, "the program "+k.Name)+")")
	}
	return strings.Join(list, ", ")
}

func (d *doctor) limits(models *server.Models) {
	t := models.TimeoutsOf(d.Config, d.Config.Model, d.settings)
	var set []string
	for _, timer := range recovery.SettableTimers() {
		if v := *t.Of(timer); v > 0 {
			set = append(set, string(timer)+" "+server.SpellLimit(v))
		}
	}
	d.good("auto-recover is %s; timeouts: %s (where they come from: %s)", show.OnOff(d.Config.AutoRecover), strings.Join(set, ", "), d.screen.Hint("doctor --timers"))
	for _, name := range append([]string{d.Config.Model}, d.Config.Fallbacks...) {
		idle := models.TimeoutsOf(d.Config, name, d.settings).Idle
		if t.Step > 0 && idle > 0 && t.Step < idle {
			d.note("step (%s) is shorter than idle (%s) of %s: its idle can never fire", server.SpellLimit(t.Step), server.SpellLimit(idle), cmp.Or(name, "a model"))
		}
	}
}

// store checks the database that keeps runs instead of a file in the state folder.
func (d *doctor) store(ctx context.Context) {
	if d.Config.Store == "" {
		return
	}
	log, err := postgres.Open(ctx, d.Config.Store)
	if err == nil {
		err = errors.Join(log.Check(ctx), log.Close())
	}
	var findings []postgres.Finding
	if err == nil {
		findings, err = postgres.Examine(ctx, d.Config.Store)
	}
	if err != nil {
		d.bad("correct store: in the config, MULLIGAN_STORE or --store, or the database", "store: %v", err)
		return
	}
	d.good("store: %s", d.Place())
	for _, f := range findings {
		switch {
		case f.Grave:
			d.bad(f.Advice, "store: %s", f.Text)
		case f.Advice != "":
			d.note("store: %s: %s", f.Text, f.Advice)
		default:
			d.good("store: %s", f.Text)
		}
	}
}

func (d *doctor) state(ctx context.Context) {
	info, err := os.Stat(d.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		d.makeState()
		return
	}
	if err != nil {
		d.bad("choose another folder with --state", "state: %v", err)
		return
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		d.note("state: others can look into %s (mode %04o): chmod 700 %s", d.Dir, mode, show.ShellQuote(d.Dir))
	}
	if d.Config.Store != "" {
		d.good("state: %s, which keeps what is this machine's", d.Dir)
		return
	}
	log, err := sqlite.Open(ctx, d.Dir)
	if err != nil {
		d.bad("correct that, or choose another folder with --state", "state: %v", err)
		return
	}
	if err := log.Close(); err != nil {
		d.bad("choose another folder with --state", "state: %v", err)
		return
	}
	d.good("state: %s", d.Dir)
}

// makeState makes the state folder, which is not there: the plugins that are started next keep their
// logs and what they remember in it.
func (d *doctor) makeState() {
	above := filepath.Dir(d.Dir)
	for {
		if _, err := os.Stat(above); !errors.Is(err, fs.ErrNotExist) || above == filepath.Dir(above) {
			break
		}
		above = filepath.Dir(above)
	}
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err
		}
		d.bad("choose another folder with --state", "state: %s cannot be made, as nothing can be made in %s: %v", d.Dir, above, err)
		return
	}
	d.good("state: %s, made now", d.Dir)
}

// cooling lists models that are cooling down.
func (d *doctor) cooling(ctx context.Context) {
	known, err := d.Health(ctx)
	if err != nil {
		return // the state's own finding says why
	}
	for _, c := range known.All(known.Now()) {
		d.note("%s cools down until %s after %s", c.Model, words.Clock(c.Until, known.Now()), c.Kind)
	}
}

func (d *doctor) pluginsStart() {
	if d.Plugins == nil {
		d.note("plugins: none, so failures are final")
		return
	}
	for _, s := range d.Plugins.Statuses() {
		switch {
		case s.Address != "":
			d.service(s)
		case s.PID == 0:
			d.bad(d.ofPlugin(s.Name), "plugin %s does not start: %s", s.Name, s.LastError)
		default:
			d.good("plugin %s %s starts (process %d)", s.Name, s.Version, s.PID)
		}
	}
	d.pins()
}

// ofPlugin is what to look at when a plugin does not start.
func (d *doctor) ofPlugin(name string) string {
	look := d.screen.Hint("plugin logs " + name)
	if slices.ContainsFunc(d.Config.AskedPlugins(), func(p config.Plugin) bool { return p.Name == name && p.IsBuiltin() }) {
		return "it comes with this program: correct what its entry says, or try again; see " + look
	}
	return "see its command in the config, and " + look
}

// pins says which plugins could be changed unnoticed.
func (d *doctor) pins() {
	for _, p := range d.Config.AskedPlugins() {
		if p.HasFolder() && d.Lock.Plugins[p.Name].SHA256 == "" {
			d.note("plugin %s is not pinned: it runs whatever its folder becomes (%s)", p.Name, d.screen.Hint("plugin pin "+p.Name))
		}
	}
}
