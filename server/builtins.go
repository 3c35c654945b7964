package server

import (
	"os"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	autorecover "github.com/mulligan-run/mulligan/plugins/autorecover/serve"
	"github.com/mulligan-run/mulligan/plugins/rules"
)

// builtins serve the plugins that every program with this package contains.
var builtins = map[string]func(){config.AutoRecover: autorecover.Serve, config.Rules: rules.Serve}

// builtinCommand is what a program is started with to be a builtin plugin.
func builtinCommand(self, name string) []string { return []string{self, "plugin", "serve", name} }

// init serves a builtin plugin if a host has started this program as one. It does so before main,
// which knows nothing of plugins in an embedder's program: it would serve once more, with a host that
// starts the next one.
func init() {
	if os.Getenv(protoconv.CookieKey) != protoconv.CookieValue || len(os.Args) != len(builtinCommand("", "")) || os.Args[1] != "plugin" || os.Args[2] != "serve" {
		return
	}
	if serve := builtins[os.Args[3]]; serve != nil {
		OwnLogs()
		serve()
		os.Exit(0)
	}
}
