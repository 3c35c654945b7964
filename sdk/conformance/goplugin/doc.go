// Command goplugin is the conformance plugin of the Go SDK: it obeys the commands
// of sdk/conformance/README.md.
package main
