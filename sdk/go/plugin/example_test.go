package plugin_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// A whole plugin is this function and plugin.Serve(plugin.Func(patience)) in main. It is a
// function like any other, to its tests as well.
func Example() {
	patience := func(_ context.Context, e plugin.Event) (plugin.Decision, error) {
		switch {
		case e.Failure.Kind == failure.KindContextOverflow && len(e.Alternatives) > 0:
			return plugin.Switch(e.Alternatives[0], "it has more room"), nil
		case e.Failure.Retryable && e.Attempt < 2:
			return plugin.Retry(max(e.RetryAfter, time.Second)), nil
		}
		return plugin.None, nil // no opinion: the next plugin is asked
	}

	for _, e := range []plugin.Event{
		{Failure: failure.Failure{Kind: failure.KindRateLimit, Retryable: true}, RetryAfter: 3 * time.Second},
		{Failure: failure.Failure{Kind: failure.KindContextOverflow}, Alternatives: []string{"gemini/gemini-3-pro"}},
		{Failure: failure.Failure{Kind: failure.KindAuth}},
	} {
		d, err := patience(context.Background(), e)
		fmt.Printf("%q %v %q %v\n", d.Action, d.Delay, d.NewModel, err)
	}
	// Output:
	// "retry" 3s "" <nil>
	// "switch_model" 0s "gemini/gemini-3-pro" <nil>
	// "" 0s "" <nil>
}
