// Package pluginpublish says what a plugin's folder lacks before others can have it.
//
//	check.go    what every plugin needs: manifest, licence, README, version
//	package.go  the package of its language, and how that is published
//	python.go, node.go, golang.go, rust.go, java.go: what each registry, and "plugin install", asks for
//
// It reads and starts nothing. Whether the plugin keeps to its protocol is "plugin test"'s to say.
package pluginpublish
