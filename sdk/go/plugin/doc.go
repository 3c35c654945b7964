// Package plugin makes a recovery plugin out of a function. A whole plugin:
//
//	package main
//
//	import (
//		"context"
//		"time"
//
//		"github.com/mulligan-run/mulligan/sdk/go/plugin"
//	)
//
//	func main() {
//		plugin.Serve(plugin.Func(func(ctx context.Context, e plugin.Event) (plugin.Decision, error) {
//			if e.Failure.Retryable && e.Attempt < 2 {
//				return plugin.Retry(max(e.RetryAfter, time.Second)), nil
//			}
//			return plugin.None, nil // no opinion: the next plugin is asked
//		}))
//	}
//
// A plugin may also be asked before every model call ([WithBeforeCall]) and about tools that failed
// ([WithToolError]), and told when a run has ended ([WithRunEnded]), where the occasions of its entry in mulligan.yaml say so.
//
// A host starts the plugin and asks it about failures, several at a time and each
// under a deadline (2 s by default, in ctx). The answer is advice: limits, budgets
// and the order of plugins decide what becomes of it. An error or a panic is "no
// opinion"; the process lives on after both. Standard output belongs to the
// protocol: print nothing before Serve; what is printed later goes to standard error.
// That reaches the host's log, and [Log] adds the ids of the call's run.
//
// Serve ends with its host: when asked to, when its standard input closes, and when
// its parent is gone.
package plugin
