package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/recipe"
	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
)

// usualProxy is where the proxy listens by default.
const usualProxy = "127.0.0.1:8485"

func newProxyVerb() *cobra.Command {
	var (
		f       common
		plugins []string
		listen  string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "proxy [flags] [-- program [arguments]]",
		Short: "Stand between any agent and its provider, and recover its failed model calls",
		Long: "Any agent gets Mulligan's recovery by changing one base URL: this serves what the providers serve,\n\n" +
			"  POST /v1/messages                            Anthropic\n" +
			"  POST /v1/chat/completions, /v1/responses     OpenAI, and all like it\n" +
			"  POST /v1beta/models/MODEL:generateContent    Gemini\n" +
			"       and :streamGenerateContent\n\n" +
			"and makes each call a run: it is repeated and switched to other models as your plugins say, before the\n" +
			"caller has seen anything of an answer, and the caller sees one answer. Everything else of those APIs,\n" +
			"such as /v1/models and /v1/files, goes to the provider as it is. Which models answer, is in\n" +
			"mulligan.yaml; without routes there, what the caller asks for is asked first, and then your fallbacks:\n\n" +
			"  proxy:\n" +
			"    routes:\n" +
			"      - match: \"claude-*\"\n" +
			"        models: [anthropic/$model, openai/gpt-5.2]\n" +
			"        mode: continue\n" +
			"      - {match: \"*\", models: [$provider/$model]}\n\n" +
			"With a program after --, that is started with a proxy of its own, and told of it where it looks for that:\n" +
			"claude, codex, opencode, aider, and whatever reads ANTHROPIC_BASE_URL, OPENAI_BASE_URL or\n" +
			"GOOGLE_GEMINI_BASE_URL. A line at its end says what was rescued. Without a program, callers send the token\n" +
			"of this installation in the place of their key; it is in the file token of the state folder. Keys of\n" +
			"providers are Mulligan's own, as ever.\n\n" +
			"Of a call are stored sizes, models, failures and decisions, and nothing that was said, unless its route\n" +
			"says keep: content. The answer's headers tell what became of it: x-mulligan-run (for `mulligan runs show`),\n" +
			"x-mulligan-attempts and x-mulligan-model.",
		Example: `mulligan proxy -- claude
mulligan proxy -- python app.py
mulligan proxy                     # for programs that are started elsewhere:
ANTHROPIC_BASE_URL=http://127.0.0.1:8485 ANTHROPIC_API_KEY=$(cat ~/.local/state/mulligan/token) claude`,
		Args: cobra.ArbitraryArgs,
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return exit.Usagef("write -- before the program: mulligan proxy -- %s", args[0])
			}
			if !cmd.Flags().Changed("listen") && a.Config.Proxy.Listen != "" {
				listen = a.Config.Proxy.Listen
			}
			return a.proxy(cmd, plugins, listen, asJSON, args)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&plugins, "plugin", nil, server.PluginUsage)
	cmd.Flags().StringVar(&listen, "listen", usualProxy, "serve at this address of this machine")
	cmd.Flags().BoolVar(&asJSON, "json", false, "log as JSON lines")
	return cmd
}

// proxy serves calls until a signal comes, or its program ends.
func (a *app) proxy(cmd *cobra.Command, plugins []string, listen string, asJSON bool, program []string) error {
	switch err := gateway.CheckBind(listen, false, false); {
	case errors.Is(err, gateway.ErrOpen): // what else it says is of flags that this verb has not
		return exit.Usagef("--listen %s: the proxy is for this machine, and others can reach this address; choose one that they cannot, for example %s", listen, usualProxy)
	case err != nil:
		return exit.Usagef("--listen %s: the proxy is for this machine: %w", listen, err)
	}
	out, level := a.Screen.Out, slog.LevelInfo
	if len(program) > 0 {
		out, level, listen = a.Screen.Err, slog.LevelError, "127.0.0.1:0"
	}
	log := server.LogTo(out, asJSON, level)
	ctx, stop := a.releasable(cmd.Context())
	if len(program) > 0 { // it ends when the program does, whatever keys are pressed
		stop()
		ctx, stop = context.WithCancel(cmd.Context())
	}
	defer stop()
	r, models, err := a.Driver(ctx, log, plugins)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer models.Close()
	token, secret, err := a.proxySecret(ctx, len(program) > 0)
	if err != nil {
		return err
	}
	p, err := a.NewProxy(r, models, token, &server.Reach{}, log)
	if err != nil {
		return exit.Usagef("proxy: %w", err)
	}
	listener, err := gateway.Listen(ctx, listen)
	if err != nil {
		return exit.Usagef("--listen %s: %w; choose another address, for example 127.0.0.1:0", listen, err)
	}
	end := serveProxy(ctx, p, listener, r, log)
	url := "http://" + listener.Addr().String()
	if strings.HasPrefix(listen, "unix:") {
		url = listen
	}
	if len(program) > 0 {
		started, err := runProgram(cmd, program, recipe.Door{URL: url, Token: secret})
		end()
		if started {
			a.Screen.Line("mulligan: " + p.Tally().String())
		}
		return err
	}
	log.Info("proxying", "url", url, "token", filepath.Join(a.Dir, "token"))
	<-ctx.Done()
	end()
	log.Info("stopped", "calls", p.Tally().String())
	return nil
}

// ownSecret is a token known only to the program that this one starts.
type ownSecret string

// Holds implements server.ProxyToken.
func (s ownSecret) Holds(digest gateway.Digest) (bool, error) {
	own := gateway.DigestOf(string(s))
	return subtle.ConstantTimeCompare(digest[:], own[:]) == 1, nil
}

// proxySecret is the installation's token, or a new one that only the started program
// knows.
func (a *app) proxySecret(ctx context.Context, own bool) (token server.ProxyToken, secret string, err error) {
	if !own {
		token, err = a.Token(ctx)
		return token, "", err
	}
	var random [32]byte
	rand.Read(random[:]) // it never fails
	secret = base64.RawURLEncoding.EncodeToString(random[:])
	return ownSecret(secret), secret, nil
}

// serveProxy serves until end is called, which gives calls in progress a moment.
func serveProxy(ctx context.Context, p *proxy.Proxy, listener net.Listener, r *runner.Runner, log *slog.Logger) (end func()) {
	requests, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	face := gateway.Server(p, log)
	face.BaseContext = func(net.Listener) context.Context { return requests }
	go func() {
		if err := face.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the proxy broke", "err", err)
		}
	}()
	return func() {
		hangUp()
		bounded, cancel := context.WithTimeout(context.Background(), 8*time.Second)
		defer cancel()
		if err := errors.Join(face.Shutdown(bounded), r.Drain(bounded)); err != nil {
			log.Warn("some calls were cut", "err", err)
		}
	}
}
