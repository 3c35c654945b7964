package recovery

import (
	"fmt"
	"strings"
	"time"
)

// Spell writes a duration for people: "2 min", "30 min 2 s", "1 h 5 min", "250 ms".
func Spell(d time.Duration) string {
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
