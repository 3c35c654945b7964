// Command mutants tests the tests: it breaks the production code on purpose, in one small way at a
// time, and requires that a test fails and names the invariant.
//
//	make mutants                      # all of testdata/mutants
//	go run -C bench ./mutants I04 I17 # those whose names begin so
//
// A mutant is a patch named after what it breaks and how, such as
// testdata/mutants/I04-tool-runs-again.patch: an invariant, a security control (S04), or a promise
// of provider/pi (Pi04). Its first line is the test with its environment, and the second line says
// what is broken:
//
//	# go test -C bench ./sim -run Sim$ MULLIGAN_SIM_RUNS=3000
//	# A result of a tool is forgotten, and the tool runs again.
//	diff --git a/recovery/run.go b/recovery/run.go
//	…
//
// The tracked files are copied to a temporary folder as they are in the work tree. Every test must
// pass there without a patch. Then each patch is applied and reverted in turn. A mutant is killed
// if its patch applies, the test fails, and the output has the invariant with a colon ("I04: …") or
// a test whose name begins with it (TestI04…). Everything else is an error, printed with the end of
// the output.
//
// A test of this package checks that every patch applies, so that whoever changes the code under a
// mutant learns of it early. Make the patch anew with one line of context (git diff -U1), so that
// changes near it do not break it.
package main
