// Package growth holds the house to what CONTRIBUTING says of the work to come: how many files
// a failure kind, an event, a provider and a hook touch.
//
// Each of testdata/growth is such a piece of work, whole, as a patch. It is applied to a copy
// of the repository, what is generated is generated anew there, and everything must build and
// every list be complete; a file of the product that it touches by hand and that it may not
// touch more of counts against its bound. Tests, documents and what is generated do not.
//
//	# A hook: plugins are asked what to do about a model that refuses to answer.
//	# at most 6 files
//	# $ .cache/bin/buf generate
//	# $ go test -short ./recovery ./hooks
//	diff --git a/hooks/occasion.go b/hooks/occasion.go
//	…
//
// A patch that does not apply any more is made anew: apply what of it applies, do the rest by
// hand, and take git diff -U1 of what is not generated.
package growth
