// Package golden compares the requests that adapters write with files of testdata. Only
// tests import it.
package golden
