// Package cluster runs three members (`mulligan serve`, each a process with its own state folder)
// over one PostgreSQL, and injects faults into them.
//
//	go test -C bench ./cluster        # the frequently played nemeses, once each, about a minute
//	make cluster                      # all of them, each 20 times, and one line of figures each
//	make cluster REPEATS=5
//	make cluster-demo                 # watch an answer continue at another member (demo_test.go)
//	go test -C bench ./cluster -run Balancer   # the same through the load balancer of packaging (balancer_test.go)
//
// Each member reaches the database through its own relay (relay_test.go), which can stop forwarding
// or break connections. In each round runs stream through different members, each followed through
// another member than the one that drives it. In the middle of an answer the nemesis strikes the
// member that drives the first run, or all members, or the database (nemeses_test.go). When the fault
// is over all runs end, and these invariants hold (check_test.go):
//
//   - I02, I03: followers receive events without a gap or a repeat, and each of these events is in
//     the database, word for word;
//   - I04: a tool whose result was written is not called again;
//   - I09: the text that is shown of an answer is a prefix of the answer;
//   - I34: every claim of a run has a higher epoch, and a lease that a later claim has superseded
//     writes nothing; nor can anybody write to a primary after its standby has taken over;
//   - I36: nobody takes over the run of a live member.
//
// For each invariant that the store itself guarantees there is a mutant that makes the check fail
// (testdata/mutants/*-cluster-*.patch).
package cluster
