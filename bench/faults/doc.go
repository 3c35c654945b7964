// Package faults plays the fault catalogue through the whole stack and writes down
// what becomes of each row.
//
// Every script of faultlab/catalogue is played by a faultlab to a real runner with a
// real adapter, over each wire that it is for, inside a testing/synctest bubble: a
// stream that is silent for two minutes takes no time. The rows below HTTP are played
// on real sockets by faultlab's broken listeners. Beside it stands what recovery's own
// test makes of the row as it is in the table, without any wire.
//
//	go test -C bench ./faults         # compares with docs/faults.md
//	make classify-report              # writes docs/faults.md anew
//
// wirefaults_test.go plays a fixed list of faults on every provider and demands the
// same kind from each.
package faults
