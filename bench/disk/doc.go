// Package disk has runs meet real trouble of a disk: one that is full, one that takes no
// larger files, and one that cannot be written to. Each is a process of its own, which
// drives a run on the real store, has the trouble begin and end, and tells how it went.
package disk
