// Package bench measures what Mulligan promises about speed: each number beside its baseline,
// measured in the same run, in turns with it.
//
//	make bench                     # every row, then the cold build
//	go run -C bench ./table -short # a look in a minute, without the cold build
//
// The benchmarks are ordinary ones (go test -C bench -bench .). Each reports its numbers as
// metrics: p50-us and p99-us, or per-s, and the same with "base-" before them for the baseline.
// bench/table runs them and prints one table; its rows.go says which row shows which benchmark, and
// what the target is. Nothing fails because it is slow.
//
// A call through the runner is compared with bare net/http, our adapter alone, openai-go, and the
// core of another gateway, Bifrost, which is built in a module of its own (bench/bifrost), so that
// its dependencies are in no other go.mod.
//
// Plugins by language have a table of their own (BenchmarkPlugins): the conformance plugin of every
// SDK, in a release build, and a bare gRPC server. All are asked in turns, so any two lines may be
// compared. The first time installs and compiles their dependencies below .cache, which takes
// minutes for Rust. A language whose toolchain is missing is shown as missing.
//
// Other processes are this package's own test binary, started in another role (roles_test.go): the
// provider (faultlab over loopback TCP), the plugin of BenchmarkHook, and the bare gRPC server that
// plugins are compared with. So their cost is not part of what is measured, except for the
// processors that they share.
package bench
