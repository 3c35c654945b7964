package runner

import "runtime"

// growStack gives a goroutine that has just begun the stack that it will need. A short model
// call would else spend a tenth of its time on having its stack copied, each time to one of
// twice the size: net/http, encoding/json and a store go deep. What makes the stack grow is the
// size of the frame; touching it would only drive other things out of the processor's cache.
//
//go:noinline
func growStack(touch bool) {
	if touch {
		var frame [12 << 10]byte
		runtime.KeepAlive(&frame)
	}
}
