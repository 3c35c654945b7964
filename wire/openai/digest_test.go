package openai

import (
	"hash/fnv"
	"testing"
)

func TestDigest(t *testing.T) {
	h, d := fnv.New64a(), newDigest()
	for _, piece := range []string{"", "Hi", " Köln", "\x00"} {
		_, _ = h.Write([]byte(piece))
		d.add(piece)
	}
	if uint64(d) != h.Sum64() {
		t.Errorf("%x is not %x", d, h.Sum64())
	}
}
