// Package page drives the web chat in a real browser, against a gateway, a runner and the
// fault lab over loopback TCP in the process of the test: through every state and every
// kind of button, reloads, two windows, and a connection that is lost.
//
//	go test ./bench/page          # needs Chromium; without it the tests skip, or fail with CI=true
//	make screenshots              # every state, light, dark and as wide as a phone: docs/screenshots
//
// Minutes pass at once: the page's clock is moved on (house.skip), the runner's is not.
package page
