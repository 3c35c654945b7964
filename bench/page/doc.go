// Package page drives the web chat in a real browser, against a gateway, a runner and the
// fault lab over loopback TCP in the process of the test: through every state and every
// kind of button, reloads, two windows, and a connection that is lost.
//
//	go test -C bench ./page       # needs Chromium; without it the tests skip, or fail with CI=true
//	make screenshots              # every state, light, dark and as wide as a phone: docs/screenshots
//
// What a person sees of the Pi coding agent is in the tables of testdata/pi, row by row as
// its behaviour was measured: TestPi plays what the real ones said, TestRealPi has them there
// (make pi). A terminal chat looks at the same runs at the same time (terminal_test.go).
//
// Minutes pass at once: the page's clock is moved on (harness.skip), the runner's is not.
package page
