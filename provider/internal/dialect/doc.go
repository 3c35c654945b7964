// Package dialect is what the requests of all wires have in common: the schema of a
// tool, the words of its result, and how JSON is written.
package dialect
