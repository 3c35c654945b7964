// Package failover tests the recovering proxy against every situation that a gateway between an
// agent and its providers must survive, after the public Failover Bench: a provider that refuses,
// fails, is silent, stalls, breaks off, sends invalid data, or fails intermittently.
//
// The proxy is assembled as `mulligan proxy` does it: a configuration in YAML, the server's runner,
// health and routes, and the auto-recover policy with its real pauses. Two fault labs are the
// providers, and everything speaks HTTP. Each situation is played for callers of all four wires,
// with a fallback on the same wire and one on another wire, in the modes hold and continue. It runs
// in a testing/synctest bubble, on a network of pipes, so that a minute of silence costs nothing.
//
//	world_test.go       the providers, the proxy and the network between them
//	caller_test.go      a call, and what its caller sees of the answer and when
//	situations_test.go  what is played, and its limits: read this one
//	report_test.go      plays, compares, and writes docs/failover-report.md
//
//	go test -C bench ./failover      # compares with docs/failover-report.md
//	make failover-report             # writes docs/failover-report.md anew
package failover
