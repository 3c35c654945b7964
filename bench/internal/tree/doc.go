// Package tree copies the repository, so that patches can be tried on it: those that break it
// (bench/mutants) and those that make it grow (bench/growth).
package tree
