// Package timers shows that nothing hangs: it plays everything that can stop making progress
// in a run, over every wire, and requires that the right timer of spec §3 ends it, with the
// right words, at the right moment.
//
// A faultlab plays each situation (no connection, headers and no body, pings for ever, a tool
// that never returns, …) to a real runner with a real adapter inside a testing/synctest
// bubble, once with the default timers, and once with each other timer alone. Time is virtual,
// so the 120 s of "pings for ever" cost nothing, and moments are compared to the millisecond.
//
//	situation_test.go   the situations
//	table_test.go       the expected outcomes: read this one
//	play_test.go        one run, from its start until it has settled
//	report_test.go      compares, and writes docs/timers-report.md
//	rules_test.go       what re-arms a timer, and what does not
//	words_test.go       the exact words, and the notes while a step takes long
//	cancel_test.go      a person's cancel in each situation
//
//	go test -C bench ./timers      # compares with docs/timers-report.md
//	make timers-report             # writes docs/timers-report.md anew
package timers
