package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// kept is what a plugin does not forget.
var kept []string

// flaws are what an author may get wrong with any SDK.
var flaws = map[string]plugin.Func{
	"garrulous": func(context.Context, plugin.Event) (plugin.Decision, error) {
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 20<<10))
		return plugin.None, nil
	},
	"with memory": func(_ context.Context, e plugin.Event) (plugin.Decision, error) {
		kept = append(kept, e.UnsafeTools...)
		return plugin.None, nil
	},
	"slow": func(context.Context, plugin.Event) (plugin.Decision, error) {
		time.Sleep(time.Second)
		return plugin.None, nil
	},
	"invalid": func(context.Context, plugin.Event) (plugin.Decision, error) {
		return plugin.Decision{Action: recovery.ActionRetry, Delay: -time.Second}, nil
	},
	"mortal": func(context.Context, plugin.Event) (plugin.Decision, error) {
		os.Exit(3)
		return plugin.None, nil
	},
	"touchy": quiet, "wordy": quiet,
}

func quiet(context.Context, plugin.Event) (plugin.Decision, error) { return plugin.None, nil }

// wordy tells the model more than it may.
func wordy(context.Context, plugin.ToolError) (plugin.ToolAdvice, error) {
	return plugin.Tell(strings.Repeat("x", recovery.MaxToolWords+1), ""), nil
}

func serveFlawed(flaw string) {
	plugin.Serve(flaws[flaw], plugin.WithConfig(func(json.RawMessage) error {
		if flaw == "touchy" {
			return errors.New("no thanks")
		}
		return nil
	}), plugin.WithToolError(wordy))
}
