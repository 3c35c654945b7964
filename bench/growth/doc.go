// Package growth checks what CONTRIBUTING says about future work: how many files a new failure
// kind, event, provider and hook touch.
//
// Each file in testdata/growth is such a piece of work, complete, as a patch. It is applied to a
// copy of the repository and generated files are generated again; then everything must build, and
// every list must be complete. The product files that the patch changes by hand must not be more
// than its bound. Tests, documents and generated files do not count.
//
//	# A hook: plugins are asked what to do about a model that refuses to answer.
//	# at most 6 files
//	# $ .cache/bin/buf generate
//	# $ go test -short ./recovery ./hooks
//	diff --git a/hooks/occasion.go b/hooks/occasion.go
//	…
//
// If a patch no longer applies, make it anew: apply the hunks that apply, do the rest by hand, and
// take git diff -U1 without the generated files.
package growth
