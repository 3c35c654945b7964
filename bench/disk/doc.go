// Package disk drives runs on disks with real trouble: a full disk, one that takes no larger files,
// and one that cannot be written to. Each is a process of its own that drives a run on the real
// store, makes the trouble begin and end, and prints the outcome.
package disk
