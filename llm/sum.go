package llm

import "math"

// Sum is a + b, or the largest or smallest int64 on overflow. Counts from outside can therefore
// never change sign.
func Sum(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Difference is a - b, with the same bounds as Sum.
func Difference(a, b int64) int64 {
	if b == math.MinInt64 {
		return Sum(Sum(a, math.MaxInt64), 1)
	}
	return Sum(a, -b)
}
