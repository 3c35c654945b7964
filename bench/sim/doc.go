// Package sim is a deterministic simulation: it runs the whole stack on seeds and checks
// every invariant that one machine, or several that share a store, can violate. The real
// runner drives real runs, the real adapters of all four wires speak net/http, and all of
// it runs in a testing/synctest bubble, where time is virtual and the network is a
// net.Pipe.
//
// # A world
//
// A seed draws a world around one run:
//
//	models      two to four, on as many wires; each plays a script of answers, tool calls
//	            and faults, from the catalogue and handmade      models_test.go
//	plugins     none to three, most of them hostile              plugins_test.go
//	tools       are slow, ignore their context, or fail; they keep their own journal
//	            tools_test.go
//	processes   crash at an append and clean nothing up, or pause for longer than their
//	            lease, or are told to end; others take over the run
//	            process_test.go
//	machines    in two worlds of five each process has its own Journal of a shared store,
//	            learns late that it owns a run, returns to a run that others owned
//	            meanwhile, and shows runs that others drive      machines_test.go
//	disk        fails before or after a write, or is slow        disk_test.go
//	environment the network fails, the wall clock is set, the computer sleeps
//	            environment_test.go
//	a person    waits, cancels, answers, also late and from two processes at once, and
//	            cuts slow calls short                            person_test.go
//	a screen    follows the run as a client does, and loses its connection
//	            screen_test.go
//
// Rules check each event as it becomes durable, against the state before it
// (rules_test.go), and what is left in the end: the log, the journal, the screen, the
// requests that the provider received (end_rules_test.go). A complaint begins with its
// invariant. The table in invariants_test.go says for each invariant what checks it: a rule
// here, tests elsewhere, or nothing yet.
//
// # Seeds
//
//	go test -C bench ./sim -run Sim                              # a few hundred
//	MULLIGAN_SIM_RUNS=20000 go test -C bench ./sim -run Sim      # as `make test` does
//	RUNS=1000000 make sim                                        # long, with its progress
//	SEED=1234 make sim                                           # one world again, verbosely
//
// Virtual time is deterministic, but the order of goroutines that are ready at one instant
// is not: a world that violated an invariant is played a few times. It is also shrunk for
// as long as the same invariant is violated: fewer scripted steps, then on one machine, then
// without plugins, network, clock, disk, crashes, deploys, cancels, cuts and tools. The
// result, the recipe and the log, is written to testdata/failures. A file that is committed
// there is a regression test that every run plays.
//
// # What keeps the rules honest
//
// `make mutants` breaks the production code on purpose, one patch of testdata/mutants at
// a time, and requires that the rule of the patch's invariant complains.
package sim
