package observe

import "crypto/rand"

// NewCallID makes an id for a tool call that came without one.
func NewCallID() string { return "call_" + rand.Text() }
