// Package dialect is what the requests of all wires have in common: the schema of a
// tool, a model's name on its own wire, and how JSON is written.
package dialect
