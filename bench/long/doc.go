// Command long lists what "go test -short" leaves out, so that make test-all runs exactly that:
//
//	go run -C bench ./long -tests      # a pattern for go test -run
//	go run -C bench ./long -packages   # their folders, seen from the repository's top
//
// A test is left out by -short if it calls testing.Short, itself or through a function that it
// uses, also one of another of our packages. Only names are compared, so a test with the same name
// elsewhere may be run unnecessarily, but none is forgotten.
package main
