// Package bench measures what the house promises about speed: each number beside
// its baseline, taken in the same run, in turns with it.
//
//	make bench                     # every row, then the cold build
//	go run -C bench ./table -short # a look in a minute, without the cold build
//
// The benchmarks are ordinary ones (go test -C bench -bench .). Each reports its
// numbers as metrics: p50-us and p99-us, or per-s, and the same with "base-" before
// them for the baseline. bench/table runs them and prints one table; which row
// shows which benchmark, and what the target is, stands in its rows.go. Nothing
// fails because it is slow.
//
// A call through the runner stands beside bare net/http, our adapter alone, openai-go and the core of
// another gateway, Bifrost's, which is built in a module of its own (bench/bifrost), so that what it needs
// is in no other go.mod.
//
// Plugins by language are a table of their own (BenchmarkPlugins): the conformance
// plugin of every SDK, compiled as for a release, beside a bare gRPC server. All are
// asked in turns, so a line may be compared with any other. The first time installs
// and compiles what they depend on, below .cache; Rust's takes minutes. A language
// whose toolchain is missing is shown as such.
//
// Other processes are this package's own test binary, started again in a role
// (roles_test.go): the provider (faultlab over loopback TCP), the plugin of
// BenchmarkHook, and the bare gRPC server that plugins are compared with. So what they
// cost is not mixed with what is measured, except for the processors that they share.
package bench
