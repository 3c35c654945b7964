// Command mulligan runs LLM agents that recover. A verb here is only flags and words: what it does
// is in the rooms that it puts together.
//
//	main.go, app.go, store.go, runid.go   what the verbs share: exit codes, the product as the flags want
//	                                      it (packages config and server), the store, the id of a run
//	run.go, chat.go, choose.go, recover*.go   runs, and a person's answers to them
//	runs*.go, sessions*.go                what is in the timeline, as package show writes it
//	serve.go, members.go, top.go          the gateway, those who share its database, and what it has to do
//	proxy*.go, acp.go, mcp.go             the other doors: the recovering proxy, editors, tool servers
//	decide.go                             advice for other runners
//	explain*.go                           names a failure that somebody else had (internal/explain)
//	faults*.go                            the fault catalogue: lists it, shows it, serves it
//	plugin*.go                            plugins: those of a person (host, host/trust), and what their
//	                                      authors work with (internal/devtools, sdk/conformance)
//	doctor*.go, audit.go                  what is wrong here, and what keeps others out
//	login.go, demo.go, version.go         a link for a browser; the demo (internal/demo); the version
//
// A run is only ever shown from its events: the verbs follow or read them through package show,
// which folds them with recovery.Run. The answer goes to stdout and everything else to stderr.
//
// A builtin plugin runs in a process of its own, which is this program again ("plugin serve
// auto-recover").
package main
