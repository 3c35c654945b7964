package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
)

const devHelp = `Run a plugin while you write it: it is started anew when its folder changes, and
what it is asked, answers and logs is shown as it happens. If the new one does
not start, the old one goes on. Until Ctrl-C every run with the same state folder
asks this one instead of the configured plugin of its name, and says so.

The plugin is one of the config by its name, or a command that stands in for the
plugin of its name (--name, or the program's) with that one's settings. A command
that has flags follows --. A compiled plugin is started anew when it is built.

With --attach NAME you start the plugin yourself, for example under a debugger, with
the environment that is printed. One that you start later takes its place.`

// devFlags are the flags of plugin dev.
type devFlags struct {
	common
	name, folder string
	attach       bool
}

func newPluginDev() *cobra.Command {
	f := &devFlags{}
	cmd := &cobra.Command{
		Use:     "dev NAME|CMD…",
		Short:   "Run a plugin while you write it",
		Long:    devHelp,
		Example: "mulligan plugin dev ./my-plugin\nmulligan plugin dev --name mine -- python3 my_plugin.py --strict\nmulligan plugin dev --attach mine",
		Args:    cobra.MinimumNArgs(1),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return f.dev(cmd, a, args)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "the configured plugin that it stands in for")
	cmd.Flags().BoolVar(&f.attach, "attach", false, "use a plugin that you start")
	cmd.Flags().StringVar(&f.folder, "folder", "", "the folder that is watched (default the plugin's)")
	return cmd
}

func (f *devFlags) dev(cmd *cobra.Command, a *app, args []string) error {
	entry, err := f.entry(a.config, args)
	if err != nil {
		return usage(err)
	}
	if !entry.hasFolder() && !f.attach {
		return usagef("plugin %s %s: there is nothing to develop", entry.Name, entry.nature())
	}
	if f.folder != "" {
		entry.Folder = f.folder
	}
	if link, err := a.devLink(cmd.Context(), entry.Name); err != nil || link != nil {
		if err == nil {
			err = fmt.Errorf("process %d runs a dev plugin %s already", link.PID, entry.Name)
		}
		return usage(err)
	}
	d := &devSession{app: a, entry: entry, attached: f.attach, screen: &screen{out: a.screen.out, err: a.screen.out, ink: wantsColour(a.screen.liveOut)}}
	ctx, stop := a.interruptible(cmd.Context())
	defer stop()
	return d.run(ctx)
}

// entry is the plugin that is meant.
func (f *devFlags) entry(c *config, args []string) (pluginEntry, error) {
	if !f.attach {
		return c.standIn(f.name, args)
	}
	if len(args) > 1 || f.name != "" || f.folder != "" || !entryName.MatchString(args[0]) {
		return pluginEntry{}, errors.New("--attach takes the name of a plugin and nothing else: you start it")
	}
	for _, p := range c.plugins() {
		if p.Name == args[0] {
			return p, nil
		}
	}
	return pluginEntry{Name: args[0]}, nil
}

// devSession is one "plugin dev" from its start to Ctrl-C.
type devSession struct {
	*app
	screen *screen
	entry  pluginEntry
	spec   host.Spec
	folder string // that is watched

	attached bool // a person starts the plugin
}

func (d *devSession) run(ctx context.Context) (err error) {
	if err := d.prepare(); err != nil {
		return err
	}
	listener, socket, err := devSocket(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(socket) }()
	if !d.attached {
		d.startFirst(ctx)
	}
	server := &http.Server{Handler: devHandler(hooks.Func(d.ask), d.tell), ReadHeaderTimeout: devDial}
	var serving sync.WaitGroup
	serving.Go(func() {
		if serveErr := server.Serve(listener); !errors.Is(serveErr, http.ErrServerClosed) {
			d.trouble(serveErr)
		}
	})
	defer serving.Wait()
	defer func() { _ = server.Close() }()
	path := d.devPath(d.entry.Name)
	link := &devLink{Protocol: devProtocol, Name: d.entry.Name, Network: "unix", Addr: listener.Addr().String(), PID: os.Getpid()}
	if err := link.write(path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	d.introduce()
	if d.attached {
		return d.attach(ctx, socket)
	}
	newFolderWatch(d.spec, d.folder).run(ctx, func() { d.reload(ctx) })
	return nil
}

func (d *devSession) prepare() (err error) {
	d.plugins = host.New(host.WithLogger(slog.New(&devLog{session: d})), host.WithStateDir(d.pluginState()))
	labels := map[string]string{labelDev: "true"}
	if d.attached {
		d.spec = host.Spec{Name: d.entry.Name, Deadline: d.entry.deadline(), Labels: labels}
		return nil
	}
	if d.spec, err = d.app.spec(d.entry); err != nil {
		return err
	}
	d.spec.Pin, d.spec.Labels = "", labels // it is there to be changed
	if d.folder, err = host.PluginFolder(d.spec); err != nil {
		return usage(err)
	}
	return d.plugins.Add(d.spec)
}

func (d *devSession) startFirst(ctx context.Context) {
	d.say("Starting %s…", strings.Join(d.spec.Command, " "))
	err := d.plugins.Start(ctx)
	switch {
	case err == nil:
		d.started("runs")
	case ctx.Err() == nil:
		d.trouble(err)
		d.say("It is tried again when something in %s changes.", d.folder)
	}
}

// ask asks the plugin as it is now.
func (d *devSession) ask(ctx context.Context, e hooks.RunError) (recovery.Vote, error) {
	list := d.plugins.Hooks()
	if len(list) == 0 {
		return recovery.Vote{}, errors.New("no plugin is attached yet")
	}
	return list[0].Hook.RunError(ctx, e)
}

func (d *devSession) introduce() {
	if !d.attached {
		d.say("Watching %s. Ctrl-C ends it.", d.folder)
	}
	for _, p := range d.config.plugins() {
		if p.Name == d.entry.Name {
			d.say("Runs with the state in %s ask it instead of the configured plugin %s.", d.dir, p.Name)
			return
		}
	}
	d.screen.line(d.screen.ink.amber("! ") + "No run asks it yet: no plugin " + d.entry.Name + " is in " + orElse(d.config.path, "mulligan.yaml") + ".")
}

func (d *devSession) reload(ctx context.Context) {
	if err := d.plugins.Reload(ctx, d.spec); err != nil {
		if ctx.Err() == nil {
			d.trouble(err)
		}
		return
	}
	d.started("was started anew")
}

func (d *devSession) started(how string) {
	s := d.plugins.Statuses()[0]
	text := fmt.Sprintf("Plugin %s %s %s", s.Name, s.Version, how)
	if s.PID != 0 {
		text += fmt.Sprintf(", process %d", s.PID)
	}
	d.screen.line(d.screen.ink.green("✓ ") + oneLine(text))
}

func (d *devSession) say(format string, args ...any) {
	d.screen.line(oneLine(fmt.Sprintf(format, args...)))
}

func (d *devSession) trouble(err error) {
	d.screen.line(d.screen.ink.red("✗ ") + strings.TrimSpace(printable(err.Error(), true)))
}

// tell shows a question and its answer.
func (d *devSession) tell(e hooks.RunError, v recovery.Vote, err error, took time.Duration) {
	ink, now := d.screen.ink, time.Now().Local().Format(time.TimeOnly)
	question := fmt.Sprintf("%s · %s · attempt %d · retries %d/%d", e.Model, e.Failure.Kind, e.Attempt, e.Retries, e.MaxRetries)
	for _, alternative := range e.Alternatives {
		question += " · or " + alternative.Model
	}
	d.screen.line(ink.dim(now) + ink.bold(" ? ") + oneLine(e.Run+" · "+question))
	if err != nil {
		d.screen.line(ink.dim(now) + ink.red(" ! ") + excerpt(fmt.Sprintf("no answer after %d ms: %v", took.Milliseconds(), err)))
		return
	}
	answer := tellAction(v.Action, v.NewModel, v.Delay)
	if v.Reason != "" {
		answer += " (" + v.Reason + ")"
	}
	d.screen.line(ink.dim(now) + ink.cyan(" → ") + excerpt(fmt.Sprintf("%s after %d ms", answer, took.Milliseconds())))
}

// devLog shows the host's log as it is written.
type devLog struct {
	session *devSession
	attrs   []slog.Attr
}

// Enabled lets everything through.
func (l *devLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle prints a line as "plugin logs" does.
func (l *devLog) Handle(_ context.Context, r slog.Record) error {
	line := logLine{plugin: l.session.entry.Name, level: r.Level.String(), msg: printable(r.Message, false), at: r.Time, more: map[string]string{}}
	add := func(a slog.Attr) bool {
		if a.Key != "plugin" {
			line.more[a.Key] = printable(a.Value.String(), false)
		}
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	l.session.screen.line(line.text(l.session.screen.ink))
	return nil
}

// WithAttrs adds attributes to every line.
func (l *devLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &devLog{l.session, append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)}
}

// WithGroup is not used by hosts.
func (l *devLog) WithGroup(string) slog.Handler { return l }
