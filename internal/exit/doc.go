// Package exit is how a command of ours ends: errors that say whose mistake they are, and
// the exit code that scripts go by.
package exit
