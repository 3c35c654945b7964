// Package index is the list of plugins that this program carries: the examples of this repository. It
// is a part of the program, and needs no signature; lists of others need one (docs/install-a-plugin.md).
package index

import _ "embed"

// JSON is the list.
//
//go:embed index.json
var JSON []byte
