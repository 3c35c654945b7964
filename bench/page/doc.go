// Package page drives the web chat in a real browser, against a gateway, a runner and the fault
// lab, all in the test's process over loopback TCP: through every state and every kind of button,
// reloads, two windows, and a lost connection.
//
//	go test -C bench ./page       # needs Chromium; without it the tests skip, or fail with CI=true
//	make screenshots              # every state, light, dark and as wide as a phone: docs/screenshots
//
// The tables of testdata/pi list what a person sees of the Pi coding agent, row by row as its
// behaviour was measured: TestPi replays recorded output, TestRealPi runs the real ones (make pi).
// A terminal chat shows the same runs at the same time (terminal_test.go).
//
// Long waits take no time: the page's clock is advanced (harness.skip), the runner's is not.
package page
