package runner

import "runtime"

// growStack gives a goroutine that has just begun the stack that it will need. Otherwise a short
// model call would spend a tenth of its time on copying its stack, each time to one of twice the
// size: net/http, encoding/json and a store make deep calls. The size of the frame alone makes the
// stack grow; touching it would only evict other data from the processor's cache.
//
//go:noinline
func growStack(touch bool) {
	if touch {
		var frame [12 << 10]byte
		runtime.KeepAlive(&frame)
	}
}
