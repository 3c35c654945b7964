package llm

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestSumsDoNotWrap(t *testing.T) {
	edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := edge.Draw(t, "a"), edge.Draw(t, "b")
		if got, want := Sum(a, b), clamped(new(big.Int).Add(big.NewInt(a), big.NewInt(b))); got != want {
			t.Fatalf("%d + %d = %d, not %d", a, b, got, want)
		}
		if got, want := Difference(a, b), clamped(new(big.Int).Sub(big.NewInt(a), big.NewInt(b))); got != want {
			t.Fatalf("%d - %d = %d, not %d", a, b, got, want)
		}
		u := Usage{InputTokens: a, OutputTokens: b, CacheReadTokens: a, CacheWriteTokens: b}
		if a >= 0 && b >= 0 && (u.Total() < max(a, b) || u.Plus(u).Total() < u.Total()) {
			t.Fatalf("%+v is %d tokens, and twice that %d", u, u.Total(), u.Plus(u).Total())
		}
	})
}

func clamped(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}
