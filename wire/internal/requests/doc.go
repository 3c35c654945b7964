// Package requests has what the tests of several wires write: a conversation, and a request
// that uses all there is. Only tests import it.
package requests
