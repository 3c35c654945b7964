package gateway

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// The same story as the control room shows it.
var (
	exampleCooling   = recovery.Cooldown{Model: exampleModel, Until: exampleTime.Add(30 * time.Second), Kind: failure.KindOverloaded}
	exampleProviders = Providers{
		Since: exampleTime.Add(-5 * time.Hour), Spent: recovery.Budget{Tokens: 912_000, Microdollars: 4_300_000}, Budget: recovery.Budget{Microdollars: 20_000_000},
		Providers: []Provider{{
			Name: "anthropic", Title: "Anthropic", Queued: 3,
			Models: []ModelCalls{{
				Name: exampleModel, Ready: true, Calls: 214, Failed: 12, Failures: []KindCount{{failure.KindOverloaded, 11}, {failure.KindRateLimit, 1}},
				InAir: 2, P50: 640, P95: 2310, Cooling: &exampleCooling, Tokens: 640_000, Microdollars: 3_100_000,
			}},
		}},
	}
	examplePlugin = Plugin{
		Name: "auto-recover", Version: "1.0.0", State: "ready", P50: 2, P99: 9,
		Votes: &PluginVotes{Since: exampleTime.Add(-5 * time.Hour), Won: 11, Overruled: 1},
	}
)

func exampleDisabled() Plugin {
	p := examplePlugin
	p.State, p.Disabled = "disabled", &DisabledBy{By: "a browser (session 5f1c09ab)", At: exampleTime}
	return p
}
