// Package pi runs the real Pi coding agent, in two generations, against a provider that fails,
// under the real runner.
//
//	make pi && go test -C bench ./pi
//
// The folders old and new say which versions of Pi, and lock their dependencies. Only the bundle of
// the newest one is run: some of its dependencies cannot be installed, and it needs none, so the
// lock file names none.
//
//	harness_test.go  a runner, an engine and a lab, and a check that nothing is left of them
//	live_test.go     what providers do to Pi, and the outcome of the run
//	abort_test.go    a cancel at any moment, and a Pi or a Mulligan that is killed
package pi
