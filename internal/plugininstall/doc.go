// Package plugininstall puts somebody else's plugin into a folder of its own and into
// mulligan.yaml, and takes it out again.
//
//	in := &plugininstall.Installer{Folder: dir, Config: path, Agree: ask, Test: exam}
//	p, err := in.Install(ctx, source, "")
//
// The order is the promise. What can be fetched without running it is fetched; then a person
// sees what it is and asks for, and agrees; only then it runs for the first time, to be tested;
// then it is pinned, and last of all, in one step, it stands in the config:
//
//	stage ──fetch──▶ offer ──agreed──▶ test ──passed──▶ receipt, mulligan.lock, mulligan.yaml
//	  └───────────────── whatever goes wrong: the folder is removed, nothing else was changed
//
// An install that was killed leaves a folder that no config names; the next one removes it.
//
//	source.go     what a person may name: a registry's package, a folder, an archive
//	stage.go      the folder while it is made, and what is left of those that nobody finished
//	fetch.go      from a source to a folder; folder.go, and a file for each other kind
//	download.go   an archive from its host and from no other; archive.go, what is in it
//	run.go        package managers: as argument lists, in a group, for a bounded time
//	entry.go      the command by which a plugin starts
//	offer.go      what a person is shown
//	install.go    the order above; update.go, the same for what is there; remove.go, its opposite
//	index.go      lists of plugins, and whose signature they need
//	settings.go   a config that keeps its comments and its order
package plugininstall
