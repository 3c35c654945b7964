// Command table runs the benchmarks and prints the results: a table with each number beside its
// baseline and its target, and one of plugins by language.
//
//	go run -C bench ./table        # all of it, the cold build last (minutes)
//	go run -C bench ./table -short # shorter measurements, no cold build
//
// It fails when a benchmark fails or is missing, never because one is slow.
package main
