package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// goroutines is how many the gateway has, as it tells Prometheus.
func (c *client) goroutines() int {
	c.Helper()
	_, metrics := c.ask("GET", "/metrics", "")
	said := regexp.MustCompile(`(?m)^go_goroutines (\d+)$`).FindStringSubmatch(metrics)
	if said == nil {
		c.Fatalf("no goroutines in %s", metrics)
	}
	n, err := strconv.Atoi(said[1])
	if err != nil {
		c.Fatal(err)
	}
	return n
}

// TestI45ShortRunsLeaveNothing: after many runs that are over, those that failed and ask a
// person among them, what remains is connections that wait for the next request: a few of ours,
// and 64 to a provider, of two goroutines each.
func TestI45ShortRunsLeaveNothing(t *testing.T) {
	t.Parallel()
	const runs, abreast = 400, 16
	const idle = abreast + 2*64 + 20
	h := newHome(t, "answer:All good.")
	c := h.serveHTTP()
	before := c.goroutines()
	id := regexp.MustCompile(`"id":"([^"]+)"`)
	places := make(chan struct{}, abreast)
	var all sync.WaitGroup
	for n := range runs {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			model := "fable/one"
			if n%2 > 0 {
				model = "fable/nobody-has-this"
			}
			code, answer := c.ask("POST", "/v1/runs", fmt.Sprintf(`{"prompt":"hi","model":%q}`, model))
			run := id.FindStringSubmatch(answer)
			if code/100 != 2 || run == nil {
				t.Errorf("%d: %s", code, answer)
				return
			}
			if model == "fable/one" {
				if _, stream := c.ask("GET", "/v1/runs/"+run[1]+"/events", ""); !strings.Contains(stream, "event: end") {
					t.Errorf("%s did not end: %s", run[1], stream)
				}
			}
		})
	}
	all.Wait()
	now := 0
	c.until(fmt.Sprintf("goroutines come back to %d and what is idle", before), func() bool {
		now = c.goroutines()
		return now <= before+idle
	})
	t.Logf("%d before, %d after %d runs", before, now, runs)
	c.stop()
}
