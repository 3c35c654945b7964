package plugins

import (
	"context"
	"path/filepath"
)

const rustSDK = "sdk/rust/"

var rustSources = []string{rustSDK + "Cargo.toml", rustSDK + "src", rustSDK + "examples/conformance"}

// makeRust builds the SDK's example. What it depends on is built once and kept.
func makeRust(ctx context.Context, p Place) (Made, error) {
	target, profile := p.Path(".cache/rust"), "debug"
	build := []string{
		"cargo", "build", "--quiet", "--manifest-path", p.Path(rustSDK + "Cargo.toml"), "--target-dir", target,
		"--example", "conformance",
	}
	if p.Optimized {
		build, profile = append(build, "--release"), "release"
	}
	return Made{Args: []string{filepath.Join(target, profile, "examples/conformance")}}, p.Run(ctx, build...)
}
