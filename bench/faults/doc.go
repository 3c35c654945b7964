// Package faults plays the fault catalogue through the whole stack and records the outcome of each
// row.
//
// A faultlab plays every script of faultlab/catalogue to a real runner with a real adapter, over
// each wire that the script is for, inside a testing/synctest bubble: a stream that is silent for
// two minutes takes no time. The rows below HTTP are played on real sockets by faultlab's broken
// listeners. The report also shows how failure's own test classifies the row as it is in the table,
// without any wire.
//
//	go test -C bench ./faults         # compares with docs/faults.md
//	make classify-report              # writes docs/faults.md anew
//
// wirefaults_test.go plays a fixed list of faults on every provider and requires the same kind from
// each.
package faults
