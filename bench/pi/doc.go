// Package pi plays the real Pi coding agent, in two generations, against a provider that
// fails, under the real runner.
//
//	make pi && go test -C bench ./pi
//
// The folders old and new say which Pis, and lock what they need. Of the newest one only
// its bundle is run: not all of its dependencies can be installed, and it needs none of
// them, so the lock file names none.
//
//	harness_test.go  a runner, an engine and a lab, and what may be left of them: nothing
//	live_test.go     what providers do to Pi, and what becomes of the run
//	abort_test.go    a cancel at any moment, and a Pi, or we, killed
package pi
