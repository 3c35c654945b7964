// Package failover plays what a gateway between an agent and its providers must survive to the
// recovering proxy, in the words of the public Failover Bench told in our own: a provider that
// refuses, fails, is silent, stalls, breaks off, speaks nonsense or comes and goes.
//
// The proxy is assembled as `mulligan proxy` does it: a configuration in YAML, the server's
// runner, health and routes, the auto-recover policy with its own pauses. Two fault labs are the
// providers, and everything speaks HTTP. Each situation is played by callers of all four wires,
// with a fallback of the same wire and one of another, in the modes hold and continue; it lives
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
