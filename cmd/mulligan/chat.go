package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/runner"
	gatewayclient "github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/tui"
)

// chatFlags are the flags of chat.
type chatFlags struct {
	common
	session     string
	model       string
	autoRecover bool
	connect     string
	plugins     []string
	noColor     bool
}

func newChat() *cobra.Command {
	f := &chatFlags{}
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk to a model, and choose what to do when it fails",
		Long: "A conversation in this terminal. When a model call fails, you see why, what was tried and what can be\n" +
			"done: press Alt and a button's number, or type the number and press Enter. /help lists the keys and\n" +
			"commands.\n\n" +
			"While it is open it drives its own runs and continues those that are due, as `mulligan serve` does.\n" +
			"Ctrl-C stops the answer. A run that is still going when you /quit continues when you come back with the\n" +
			"same --session. --connect talks to a running `mulligan serve` instead, with the token in the state\n" +
			"folder; its runs carry on without you.",
		Example: `mulligan chat
mulligan chat --session oslo --auto-recover
mulligan chat --connect http://127.0.0.1:8484`,
		Args: cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error { return f.chat(cmd) }),
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "the conversation to continue; a new name begins one")
	flags.StringVar(&f.model, "model", "", "the model, as provider/model")
	flags.BoolVar(&f.autoRecover, "auto-recover", false, "recover automatically instead of asking you")
	flags.StringVar(&f.connect, "connect", "", "the address of a running mulligan serve, for example http://127.0.0.1:8484")
	flags.StringArrayVar(&f.plugins, "plugin", nil, server.PluginUsage)
	flags.BoolVar(&f.noColor, "no-color", false, "use no colour; so does NO_COLOR in the environment")
	registerMCP(cmd)
	return cmd
}

func (f *chatFlags) chat(cmd *cobra.Command) error {
	a, err := f.load(cmd)
	if err != nil {
		return err
	}
	if !a.Screen.LiveOut || !show.IsTerminalReader(cmd.InOrStdin()) {
		return exit.Usagef("chat needs a terminal: `%s` works without one", a.Screen.Hint("run"))
	}
	cfg, err := f.config(cmd.Flags(), a)
	if err != nil {
		return exit.Usage(err)
	}
	defer a.Close()
	ctx, stop := untilEnded(cmd.Context())
	defer stop()
	var done func()
	if f.connect != "" {
		done, err = f.connectChat(a, &cfg)
	} else {
		done, err = a.openChat(ctx, cmd.Flags(), f, &cfg)
	}
	if err != nil {
		return interrupted(ctx, err)
	}
	defer done()
	if err := tui.Run(ctx, cfg); err != nil {
		return err
	}
	a.Screen.Line("Go on with this conversation: " + a.Screen.Hint("chat --session "+cfg.Session))
	if ctx.Err() != nil {
		a.LeavesSoon(true)
		return &exit.Error{Code: exit.CodeTerminated}
	}
	return nil
}

// config is the chat's configuration from the flags.
func (f *chatFlags) config(flags *pflag.FlagSet, a *app) (tui.Config, error) {
	cfg := tui.Config{Session: f.session, Model: f.model, NoColor: f.noColor || !bool(a.Screen.Ink)}
	if f.session == "" {
		cfg.Session = "chat-" + strings.ToLower(ulid.Make().String())
	} else if err := timeline.CheckSessionID(f.session); err != nil {
		return cfg, fmt.Errorf("--session: %w", err)
	}
	if f.model != "" {
		if err := config.CheckModel(f.model); err != nil {
			return cfg, fmt.Errorf("--model: %w", err)
		}
	}
	if flags.Changed("auto-recover") {
		cfg.AutoRecover = &f.autoRecover
	}
	return cfg, nil
}

// inMemory is the address of a gateway that only the chat in the same process reaches.
const inMemory = "http://mulligan.invalid"

// openChat serves a gateway in this process, which nobody else can reach, and drives
// due runs meanwhile. done releases them.
func (a *app) openChat(ctx context.Context, flags *pflag.FlagSet, f *chatFlags, cfg *tui.Config) (done func(), err error) {
	if err := a.OpenLog(ctx); err != nil {
		return nil, err
	}
	if err := a.addMCP(flags); err != nil {
		return nil, err
	}
	if f.model != "" {
		a.Config.Model = f.model
	}
	quiet := slog.New(slog.DiscardHandler) // the chat owns the screen
	r, models, err := a.Driver(ctx, quiet, f.plugins, a.Observed(ctx, false, quiet)...)
	if err != nil {
		return nil, err
	}
	if err := models.Choose(a.Config); err != nil {
		models.Close()
		return nil, exit.Usage(err)
	}
	if cfg.AutoRecover == nil {
		cfg.AutoRecover = &a.Config.AutoRecover
	}
	httpServer, api, err := a.NewHTTPServer(ctx, quiet, r, models, func(*runner.Run) {}) // the chat shows what becomes of it
	if err != nil {
		models.Close()
		return nil, err
	}
	httpServer.ServeWith(api)
	listener := faultlab.NewMemListener()
	go httpServer.Serve(listener)
	keeping, letGo := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		_ = r.Keep(keeping, nil) // what could not be released is claimed from this process later
	}()
	cfg.Link = &tui.Link{Base: listener.Client().Transport}
	cfg.Client, err = gatewayclient.New(inMemory, gatewayclient.WithHTTPClient(&http.Client{Transport: cfg.Link}))
	return func() {
		httpServer.Close()
		letGo()
		<-kept
		models.Close()
	}, err
}

// connectChat connects to a running gateway.
func (f *chatFlags) connectChat(a *app, cfg *tui.Config) (done func(), err error) {
	if err := checkGateway(f.connect); err != nil {
		return nil, exit.Usagef("--connect %s: %w", f.connect, err)
	}
	if _, err := gateway.ReadToken(a.Dir); err != nil {
		return nil, exit.Usagef("--connect %s: %w\nThe token is in the state folder of `mulligan serve`: --state says which", f.connect, err)
	}
	cfg.Link = &tui.Link{}
	cfg.Client, err = gatewayclient.New(f.connect,
		gatewayclient.WithTokenFrom(func() (string, error) { return gateway.ReadToken(a.Dir) }),
		gatewayclient.WithHTTPClient(&http.Client{Transport: cfg.Link}))
	return func() {}, exit.Usage(err)
}

// checkGateway refuses an address to which the token would be sent unencrypted over a
// network.
func checkGateway(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("write it as http://127.0.0.1:8484")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errors.New("the token would cross the network in clear: use https, or a tunnel to this machine")
	}
	return nil
}
