package devtools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/devlink"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

// Session is one "plugin dev" from its start to Ctrl-C.
type Session struct {
	*server.Server
	Screen *show.Screen
	Entry  config.Plugin
	spec   host.Spec
	folder string // the watched one

	Attached bool // a person starts the plugin
}

// Run runs the plugin until ctx ends.
func (d *Session) Run(ctx context.Context) (err error) {
	if err := d.prepare(); err != nil {
		return err
	}
	listener, socket, err := devlink.Socket(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(socket) }()
	if !d.Attached {
		d.startFirst(ctx)
	}
	server := &http.Server{Handler: devlink.Handler(asking{d}, d.tell), ReadHeaderTimeout: devlink.DialTimeout}
	var serving sync.WaitGroup
	serving.Go(func() {
		if serveErr := server.Serve(listener); !errors.Is(serveErr, http.ErrServerClosed) {
			d.trouble(serveErr)
		}
	})
	defer serving.Wait()
	defer func() { _ = server.Close() }()
	path := devlink.Path(d.Dir, d.Entry.Name)
	link := &devlink.Link{Protocol: devlink.Protocol, Name: d.Entry.Name, Network: "unix", Addr: listener.Addr().String(), PID: os.Getpid()}
	if err := link.Write(path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	d.introduce()
	if d.Attached {
		return d.attach(ctx, socket)
	}
	newFolderWatch(d.spec, d.folder).run(ctx, func() { d.reload(ctx) })
	return nil
}

func (d *Session) prepare() (err error) {
	d.Plugins = host.New(host.WithLogger(slog.New(&devLog{session: d})), host.WithStateDir(d.PluginState()))
	labels := map[string]string{server.LabelDev: "true"}
	if d.Attached {
		d.spec = host.Spec{Name: d.Entry.Name, Deadline: d.Entry.AnswerWithin(), Labels: labels}
		return nil
	}
	if d.spec, err = d.Server.Spec(d.Entry); err != nil {
		return err
	}
	d.spec.Pin, d.spec.Labels = "", labels // the plugin is meant to change
	if d.folder, err = host.PluginFolder(d.spec); err != nil {
		return exit.Usage(err)
	}
	return d.Plugins.Add(d.spec)
}

func (d *Session) startFirst(ctx context.Context) {
	d.say("Starting %s…", strings.Join(d.spec.Command, " "))
	err := d.Plugins.Start(ctx)
	switch {
	case err == nil:
		d.started("runs")
	case ctx.Err() == nil:
		d.trouble(err)
		d.say("It is tried again when something in %s changes.", d.folder)
	}
}

// asking asks the current plugin.
type asking struct{ session *Session }

// Advise implements hooks.Hook.
func (a asking) Advise(ctx context.Context, about hooks.Occasion) (recovery.Vote, error) {
	list := a.session.Plugins.Hooks()
	if len(list) == 0 {
		return recovery.Vote{}, errors.New("no plugin is attached yet")
	}
	return list[0].Hook.Advise(ctx, about)
}

func (d *Session) introduce() {
	if !d.Attached {
		d.say("Watching %s. Ctrl-C ends it.", d.folder)
	}
	for _, p := range d.Config.AskedPlugins() {
		if p.Name == d.Entry.Name {
			d.say("Runs with the state in %s ask it instead of the configured plugin %s.", d.Dir, p.Name)
			return
		}
	}
	d.Screen.Line(d.Screen.Ink.Amber("! ") + "No run asks it yet: no plugin " + d.Entry.Name + " is in " + cmp.Or(d.Config.Path, "mulligan.yaml") + ".")
}

func (d *Session) reload(ctx context.Context) {
	if err := d.Plugins.Reload(ctx, d.spec); err != nil {
		if ctx.Err() == nil {
			d.trouble(err)
		}
		return
	}
	d.started("was started anew")
}

func (d *Session) started(how string) {
	s := d.Plugins.Statuses()[0]
	text := fmt.Sprintf("Plugin %s %s %s", s.Name, s.Version, how)
	if s.PID != 0 {
		text += fmt.Sprintf(", process %d", s.PID)
	}
	d.Screen.Line(d.Screen.Ink.Green("✓ ") + terminal.OneLine(text))
}

func (d *Session) say(format string, args ...any) {
	d.Screen.Line(terminal.OneLine(fmt.Sprintf(format, args...)))
}

func (d *Session) trouble(err error) {
	d.Screen.Line(d.Screen.Ink.Red("✗ ") + strings.TrimSpace(terminal.Printable(err.Error(), true)))
}

// asked is a question in a line.
func asked(about hooks.Occasion) string {
	var question string
	var others []recovery.Alternative
	switch e := about.(type) {
	case hooks.RunError:
		question = fmt.Sprintf("%s · %s · %s · attempt %d · retries %d/%d", e.Run, e.Model, e.Failure.Kind, e.Attempt, e.Retries, e.MaxRetries)
		others = e.Alternatives
	case hooks.BeforeCall:
		question = fmt.Sprintf("%s · before call %d of %s · attempt %d", e.Run, e.Round, e.Model.Model, e.Attempt)
		others = e.Alternatives
	case hooks.ToolError:
		question = fmt.Sprintf("%s · tool %s failed · tries %d, and %d left", e.Run, e.Tool, e.Tries, e.RemainingTries)
	case hooks.RunEnded:
		question = fmt.Sprintf("%s · ended: %s", e.Run, e.Status)
	}
	for _, other := range others {
		question += " · or " + other.Model
	}
	return question
}

// tell shows a question and its answer.
func (d *Session) tell(about hooks.Occasion, v recovery.Vote, err error, took time.Duration) {
	ink, now := d.Screen.Ink, time.Now().Local().Format(time.TimeOnly)
	d.Screen.Line(ink.Dim(now) + ink.Bold(" ? ") + terminal.OneLine(asked(about)))
	if err != nil {
		d.Screen.Line(ink.Dim(now) + ink.Red(" ! ") + show.Excerpt(fmt.Sprintf("no answer after %d ms: %v", took.Milliseconds(), err)))
		return
	}
	answer := show.TellAction(v.Action, v.NewModel, v.Delay)
	if v.Reason != "" {
		answer += " (" + v.Reason + ")"
	}
	d.Screen.Line(ink.Dim(now) + ink.Cyan(" → ") + show.Excerpt(fmt.Sprintf("%s after %d ms", answer, took.Milliseconds())))
}

// devLog prints the host's log as it is written.
type devLog struct {
	session *Session
	attrs   []slog.Attr
}

// Enabled lets everything through.
func (l *devLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle prints a line as "plugin logs" does.
func (l *devLog) Handle(_ context.Context, r slog.Record) error {
	line := LogLine{plugin: l.session.Entry.Name, level: r.Level.String(), msg: terminal.Printable(r.Message, false), At: r.Time, more: map[string]string{}}
	add := func(a slog.Attr) bool {
		if a.Key != "plugin" {
			line.more[a.Key] = terminal.Printable(a.Value.String(), false)
		}
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	l.session.Screen.Line(line.text(l.session.Screen.Ink))
	return nil
}

// WithAttrs adds attributes to every line.
func (l *devLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &devLog{l.session, append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)}
}

// WithGroup is not used by hosts.
func (l *devLog) WithGroup(string) slog.Handler { return l }
