// Package nanos is how stores keep times: as Unix nanoseconds, 0 for none, so that each of them
// gives back the same time. It is no type of theirs, since databases have types of their own.
package nanos
