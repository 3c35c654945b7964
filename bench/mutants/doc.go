// Command mutants checks the checkers: it breaks the production code on purpose, in one
// small way at a time, and demands that a test turns red and names the invariant.
//
//	make mutants                      # all of testdata/mutants
//	go run -C bench ./mutants I04 I17 # those whose names begin so
//
// A mutant is a patch named after the invariant, the security control (S04), or the promise
// of provider/pi (Pi04) that it breaks and how, such as
// testdata/mutants/I04-tool-runs-again.patch. Its first line is the test, with what is to
// be set in its environment, and the second says what is broken:
//
//	# go test -C bench ./sim -run Sim$ MULLIGAN_SIM_RUNS=3000
//	# A result of a tool is forgotten, and the tool runs again.
//	diff --git a/recovery/run.go b/recovery/run.go
//	…
//
// The tracked files are copied to a temporary folder as they stand, each patch is applied
// there and taken back; before that every test must pass without any. A mutant is killed if its patch applies, the test fails, and its
// output has the invariant with a colon ("I04: …") or a test that begins with it
// (TestI04…). Everything else is an error, and told
// with the end of the output.
//
// That every patch applies is a test of this package, so that whoever changes what a
// mutant is about hears of it early: make the patch anew, with one line of context
// (git diff -U1), so that it survives its neighbours.
package main
