//go:build !linux

package host

// controlGroup does not exist on this system.
type controlGroup struct{}

func groupFolder() string { return "" }

func newControlGroup(string, Limits) *controlGroup { return nil }
func (*controlGroup) limitsMemory() bool           { return false }
func (*controlGroup) outOfMemory() bool            { return false }
func (*controlGroup) kill()                        {}
func (*controlGroup) remove()                      {}
func sweepGroups(string)                           {}
