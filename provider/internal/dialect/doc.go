// Package dialect is what the requests of all wires have in common: the schema of a
// tool, the words of its result, pictures as URLs, and how JSON is written.
package dialect
