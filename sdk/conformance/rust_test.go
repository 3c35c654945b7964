package conformance

import (
	"path/filepath"
	"testing"
)

const rustSDK = "../rust/"

var rustSources = []string{rustSDK + "Cargo.toml", rustSDK + "src", rustSDK + "examples/conformance"}

// rustPlugin builds the SDK's example. What it depends on is built once and kept.
func rustPlugin(t *testing.T, _ string) Command {
	target, err := filepath.Abs("../../.cache/rust")
	if err != nil {
		t.Fatal(err)
	}
	run(t, "cargo", "build", "--quiet", "--manifest-path", rustSDK+"Cargo.toml", "--target-dir", target, "--example", "conformance")
	return Command{Args: []string{filepath.Join(target, "debug/examples/conformance")}}
}
