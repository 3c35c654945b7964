// Package cluster plays several machines: three members (`mulligan serve`, each a process with a state
// folder of its own) over one PostgreSQL, and what happens to them.
//
//	go test -C bench ./cluster        # those that are played often, once each, about a minute
//	make cluster                      # all of them, each 20 times, and one line of figures each
//	make cluster REPEATS=5
//	make cluster-demo                 # watch one sentence go on at another member (demo_test.go)
//	go test -C bench ./cluster -run Balancer   # the same through the load balancer of packaging (balancer_test.go)
//
// Each member reaches the database through a relay of its own (relay_test.go), which can stop
// forwarding, and break. In each round runs stream through different members, each followed through
// another one than the one that drives it; then the nemesis strikes, in mid-sentence, the member that drives the first
// of them, or all, or the database (nemeses_test.go). After it has passed all runs end, and these hold (check_test.go):
//
//   - I02, I03: whoever follows is given events without a gap or a repeat, and each of them is in the
//     database, word for word;
//   - I04: a tool whose result was written is not called again;
//   - I09: what is shown of an answer is what the answer begins with;
//   - I34: every claim of a run is by a higher epoch, and a lease that another claim has overtaken
//     writes nothing, whoever has it; nor does anybody to a primary that a standby has taken over from;
//   - I36: nobody takes the run of a member that lives.
//
// Each of those that stand for the store's own promises is seen to fail by a mutant
// (testdata/mutants/*-cluster-*.patch).
package cluster
