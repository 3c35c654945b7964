package openai

import (
	"slices"
	"sync"

	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// habits are what is known of how a server ends its answers. Some never name a reason and say
// [DONE] alone. That is also what a cut looks like where a gateway puts the [DONE], so it is
// taken for an end only of a server that was never heard to name one, and only when the same
// whole answer came so twice; from then on it is that server's end, until it names a reason.
type habits struct {
	mu    sync.Mutex
	names bool     // it has named a reason
	plain bool     // [DONE] alone is its end
	cut   []uint64 // digests of the last answers that ended so
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
