//go:build !linux

package procgroup

// Marked finds nothing here: only Linux tells the environment of a process.
func Marked(string) []int { return nil }

// KillMarked kills nothing here, for the same reason.
func KillMarked(string) bool { return false }
