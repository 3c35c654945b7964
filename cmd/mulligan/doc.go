// Command mulligan runs LLM agents that recover: the wiring of the house, one file
// per verb.
//
//	config.go, environment.go, timeouts.go   what a person configured
//	models.go, plugins.go, app.go            the rooms that are made of it
//	run.go, recover.go, runs.go, …           the verbs
//	explain*.go                              the verb that names a failure somebody else had:
//	                                         report (what is told), note and table (what is said), learn
//	                                         (what is corrected); corrections.go, config_failures.go: what was
//	faults*.go                               the fault catalogue: list and show what it has, serve it
//	                                         (screen is what that prints, below fails below HTTP)
//	plugin_*.go                              the verbs about plugins; plugin_occasion.go has the failures that
//	                                         replay asks about, dev_*.go how a plugin under development
//	                                         answers for another process's
//	lock.go, contents.go, manifest.go        what of plugins was pinned and granted, and what they ask for
//	plugin_new*.go, plugin_conform*.go       the verbs of plugin authors: a plugin to begin with (its files
//	                                         are in scaffold), and its exam (which is in sdk/conformance)
//	serve.go, face.go, gateway.go (and gateway_learn.go), reach.go  what serve is: its HTTP face, what requests do, who reaches it;
//	                                         listening.go tells other processes of it
//	login.go, audit.go                       a link for a browser; what keeps others out (doctor --audit)
//	live.go                                  shows a run while it goes on
//	outcome.go                               what it came to, and what can be done
//	story.go                                 tells one that is in the timeline
//	screen.go, text.go                       where it is shown: a terminal or not
//
// A run is only ever shown from its events: live.go follows them from where it
// begins to look, story.go reads all of them, and both fold them with recovery.Run.
// The answer goes to stdout and everything else to stderr.
//
// A builtin plugin (builtins.go) runs in a process of its own, which is this program
// again ("plugin serve auto-recover"). The demo's provider is a faultlab on loopback that
// models.go starts when one of the demo's models is asked for.
package main
