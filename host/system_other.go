//go:build !linux

package host

// mayExecute assumes that every folder allows programs to run.
func mayExecute(string) bool { return true }

// usage is unknown on this system.
func usage(*processRunner) (processes int, bytes int64) { return 0, 0 }

func shared(*processRunner) (bytes int64) { return 0 }

func overflowOwner() uint32 { return 0 }
