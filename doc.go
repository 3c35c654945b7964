// Package mulligan is what a program carries of this repository: the sources of the SDKs,
// which "mulligan plugin new" writes beside a new plugin. How the house is built is in
// README.md, and its tour begins in package recovery.
package mulligan

import "embed"

// Source has them at their places in the repository. The Go SDK is what it is made of as well;
// tests are among its files.
//
//go:embed LICENSE go.mod go.sum
//go:embed failure/*.go failure/words/*.go llm/*.go recovery/*.go hooks/*.go proto/mulligan/v1/*.go internal/protoconv/*.go sdk/go/plugin/*.go
//go:embed sdk/python/README.md sdk/python/pyproject.toml sdk/python/src/mulligan/*.py sdk/python/src/mulligan/py.typed sdk/python/src/mulligan/_proto/*.py*
//go:embed sdk/java/README.md sdk/java/pom.xml sdk/java/src/main proto/mulligan/v1/decision.proto proto/mulligan/v1/failure.proto proto/mulligan/v1/plugin.proto proto/mulligan/v1/values.proto
//go:embed sdk/rust/README.md sdk/rust/Cargo.toml sdk/rust/src sdk/rust/xtask/Cargo.toml sdk/rust/xtask/src
//go:embed sdk/typescript/plugin/package.json sdk/typescript/plugin/package-lock.json sdk/typescript/plugin/.npmrc sdk/typescript/plugin/tsconfig.json sdk/typescript/plugin/src
var Source embed.FS
