// Package tree copies the repository, so that patches can be tried on the copy: those that break it
// (bench/mutants) and those that extend it (bench/growth).
package tree
