// Package sim is the proof of the house: it runs the whole stack on seeds and looks at
// every invariant that one machine can break, or several that share a store. The real
// runner drives real runs, the real adapters of all four wires speak net/http, and all of
// it lives in a testing/synctest bubble, where time is virtual and the network is a
// net.Pipe.
//
// # A world
//
// A seed draws a world around one run:
//
//	models      two to four, on as many wires; each plays a script of answers, tool calls
//	            and faults, of the catalogue and made by hand     models_test.go
//	plugins     none to three; most of them hostile               plugins_test.go
//	tools       slow, deaf, broken; they keep a journal           tools_test.go
//	processes   they die at some append and clean nothing up, or stand still for longer
//	            than their lease, or are told to end; others go on with the run
//	            process_test.go
//	machines    in two worlds of five each process has a Journal of its own over one
//	            store, learns late that it has a run, comes back to one that others had
//	            meanwhile, and shows runs that others drive       machines_test.go
//	the disk    fails before or after it wrote, or is slow        disk_test.go
//	the sky     the network goes, the wall clock is set, the computer sleeps
//	            weather_test.go
//	a person    waits, cancels, answers, also from two processes at once, and late; cuts
//	            slow calls short
//	            person_test.go
//	a screen    follows the run as a client does, and loses its connection
//	            screen_test.go
//
// Rules look at each event as it becomes durable, with the state before it at hand
// (rules_test.go), and at what is left behind: the log, the journal, the screen, the
// requests that the provider got (end_rules_test.go). A complaint begins with its
// invariant. The table of invariants_test.go says of each where it is proved: by a rule
// here, by tests elsewhere, or not yet.
//
// # Seeds
//
//	go test -C bench ./sim -run Sim                              # a few hundred
//	MULLIGAN_SIM_RUNS=20000 go test -C bench ./sim -run Sim      # as `make test` does
//	RUNS=1000000 make sim                                        # long, with its progress
//	SEED=1234 make sim                                           # one world again, verbosely
//
// Virtual time is deterministic, the order of goroutines that are ready at one instant is
// not: a world that broke is played a few times. It is also made smaller: fewer scripted
// steps, then on one machine, without plugins, network, clock, disk, crashes, deploys, cancels, haste and tools, as long as
// the same invariant breaks. What is left, the recipe and the log, is kept in testdata/failures;
// a file that stays there is a regression, and every run plays it.
//
// # What keeps the rules honest
//
// `make mutants` breaks the production code on purpose, one patch of testdata/mutants at
// a time, and demands that the rule of the patch's invariant complains.
package sim
