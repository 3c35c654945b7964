package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration writes a duration for people: "2 min", "30 min 2 s", "1 h 5 min", "250 ms".
func Duration(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	d = d.Round(time.Second)
	var parts []string
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / u.size; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d -= n * u.size
		}
	}
	return strings.Join(parts[:min(2, len(parts))], " ")
}

// Count writes a count for people: 12345 is "12,345".
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Dollars writes a sum of microdollars for people: "$1.20", and less than a cent with as many
// digits as necessary, "$0.0003".
func Dollars(micro int64) string {
	const cent = 10_000
	switch {
	case micro > 0 && micro < cent/100:
		return fmt.Sprintf("$%.6f", float64(micro)/1e6)
	case micro > 0 && micro < cent:
		return fmt.Sprintf("$%.4f", float64(micro)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}
