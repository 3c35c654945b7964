// Package plugins makes the conformance plugin of every SDK, for whoever wants to
// judge it or to measure it.
//
//	for _, l := range plugins.Languages {
//		if tool := l.Missing(); tool != "" {
//			continue // say so
//		}
//		made, err := l.Make(ctx, plugins.Place{Root: root, Dir: dir})
//	}
//
// A language is a row in languages.go. What its plugin depends on is installed and
// compiled below .cache, once for each version; the first time needs the network.
package plugins
