// Command table runs the benchmarks and prints what they measured as one table:
// each number beside its baseline and its target.
//
//	go run ./bench/table          # all of it, the cold build last (minutes)
//	go run ./bench/table -short   # shorter measurements, no cold build
//
// It fails when a benchmark fails or is missing, never because one is slow.
package main
