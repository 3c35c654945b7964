// Command long says what "go test -short" leaves out, for make test-all to run that and nothing else:
//
//	go run -C bench ./long -tests      # a pattern for go test -run
//	go run -C bench ./long -packages   # their folders, seen from the repository's top
//
// A test is left out when it asks testing.Short, itself or by a function that it uses, also one of
// another package of ours. Names are all that is compared, so that a test of the same name elsewhere is
// played once more than it has to be, and none is forgotten.
package main
