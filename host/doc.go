// Package host runs plugin processes and makes them hooks.
//
//	h := host.New(host.WithLogger(logger))
//	defer h.Close()
//	err := h.Add(host.Spec{Name: "rules", Command: []string{"/opt/plugins/rules"}})
//	h.Start(ctx) // optional: otherwise a plugin starts when it is first asked
//	hooks.Dispatch(ctx, h.Hooks(), occasion, hooks.Deadlines{}, voted)
//
// A plugin is a go-plugin server. Unlike go-plugin's own client, the process runs in
// a group of its own, with an allow-list for its environment, a pipe as standard
// input that closes when the host is gone, and sockets in a private folder; its
// output is bounded and never parsed, and everything that could block is bounded too.
//
//	stopped ──asked──▶ starting ──healthy, described, configured──▶ ready
//	                     ▲  │                                        │
//	                     │  └──────── failed ────▶ backoff ◀── died ─┘
//	                     └───── 250 ms … 5 s ────────┤
//	                                                 └── 3 restarts in 10 min ──▶ tripped
//
// A plugin that runs and yet fails three times in a row is left alone for a minute,
// doubling to ten (a circuit breaker); it is shown as tripped too. Whatever a plugin
// does, its Hook returns before its context or the plugin's deadline ends.
package host
