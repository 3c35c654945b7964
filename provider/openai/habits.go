package openai

import (
	"slices"
	"sync"

	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// habits are what is known about how a server ends its answers. Some servers never give a
// finish_reason, and end with [DONE] alone. A cut answer looks the same if a gateway adds the
// [DONE]. So it counts as an end only if the server has never given a reason, and only when the
// same whole answer has come twice that way. From then on it is this server's end, until it gives a
// reason.
type habits struct {
	mu    sync.Mutex
	names bool     // it has given a finish_reason
	plain bool     // [DONE] alone is its end
	cut   []uint64 // digests of the last answers that ended that way
}

// maxCut is how many answers are remembered.
const maxCut = 64

// NewID implements openai.Server.
func (h *habits) NewID() string { return observe.NewCallID() }

// Named implements openai.Server.
func (h *habits) Named() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names, h.plain, h.cut = true, false, nil
}

// Whole implements openai.Server.
func (h *habits) Whole(digest uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names {
		return false
	}
	h.plain = h.plain || slices.Contains(h.cut, digest)
	if !h.plain {
		h.cut = append(h.cut[max(0, len(h.cut)-maxCut+1):], digest)
	}
	return h.plain
}
