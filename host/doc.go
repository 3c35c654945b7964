// Package host runs plugin processes and makes them hooks.
//
//	h := host.New(host.WithLogger(logger), host.WithStateDir(dir))
//	defer h.Close()
//	err := h.Add(host.Spec{Name: "rules", Command: []string{"/opt/plugins/rules/rules"}, Pin: sum})
//	h.Start(ctx) // optional: otherwise a plugin starts when it is first asked
//	hooks.Dispatch(ctx, h.Hooks(), occasion, hooks.Deadlines{}, voted)
//
// A plugin is a go-plugin server. Unlike go-plugin's own client, the process runs in
// a group of its own, with an allow-list for its environment, a pipe as standard
// input that closes when the host is gone, and sockets in a private folder; its
// output is bounded and never trusted, and everything that could block is bounded too.
//
//	stopped ──asked──▶ starting ──healthy, described, configured──▶ ready
//	                     ▲  │                                        │
//	                     │  └──────── failed ────▶ backoff ◀── died ─┘
//	                     └───── 250 ms … 5 s ────────┤
//	                                                 └── 3 restarts in 10 min ──▶ tripped
//
// A plugin that runs and yet fails three times in a row is left alone for a minute,
// doubling to ten (a circuit breaker); it is shown as tripped too. A Spec's
// RestartPolicy and BreakerPolicy change these numbers within bounds. Whatever a plugin
// does, its Hook returns before its context or the plugin's deadline ends.
//
// Before a start (process.go): the executable must be nobody else's to replace
// (owner.go), or the plugin's whole folder is what it was pinned to, and a copy of it
// runs (pin.go). What the process may take is bounded (spawn_linux.go, watch.go), and
// what it starts ends with it: by its process group and, where the system helps, a
// control group (controlgroup_linux.go) or the environment that it was born with
// (system_linux.go). docs/security.md says what each of these gives.
//
// Instead of a command a plugin may have an address: it is a service that others use,
// too, and a connection to it stands where the process would (peer.go, remote.go). It
// is given no configuration, and is reached again without end. Plaintext stays on this
// machine, and certificates are read at each connect (address.go, remote_tls.go).
//
// Reload puts a new process in the place of a running one; a person may restart, disable and
// enable one (control.go) and read what it said last (said.go). With a state folder
// (statedir.go, logfile.go), ReadStates and LogFile tell other processes how a host's
// plugins are and what they have said. What a host that was killed leaves behind, the
// next one removes (folder.go).
package host
