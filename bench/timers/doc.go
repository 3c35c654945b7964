// Package timers shows that nothing hangs: it plays everything that can go quiet in a
// run, over every wire, and demands that the right clock of spec §3 ends it, in the
// right words, at the right moment.
//
// A situation (no connection, headers and no body, pings for ever, a tool that never
// returns, …) is played by a faultlab to a real runner with a real adapter inside a
// testing/synctest bubble, once under the clocks that are built in, and once for each
// other clock alone. Time is virtual, so "pings for ever" takes its 120 s and costs
// nothing, and moments are compared to the millisecond.
//
//	situation_test.go   what goes quiet, and how
//	table_test.go       what must become of it: read this one
//	play_test.go        one run, from its start until it has settled
//	report_test.go      compares, and writes docs/timers-report.md
//	rules_test.go       what re-arms a clock, and what does not
//	words_test.go       the exact words, and the notes while a step takes long
//	cancel_test.go      a person's cancel in each situation
//
//	go test -C bench ./timers      # compares with docs/timers-report.md
//	make timers-report             # writes docs/timers-report.md anew
package timers
