// Package procgroup starts programs that can be ended with all that they start: each
// leads a process group of its own, gets none of our files and, on Linux, does not
// outlive us. What left its group is found by a mark in its environment (Marked), what a
// program printed last is kept (Tail), and whether a process of long ago still runs is told
// from those that were given its number since (LifeOf), also by a note in a file (Note).
// The plugin host, the tools that are commands or MCP servers, and engines stand on it.
package procgroup
