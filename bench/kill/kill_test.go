package kill

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/mulligan-run/mulligan/recovery"
)

const (
	cyclesEnv = "MULLIGAN_KILL_CYCLES" // how many; without it each point once and a few instants
	instants  = 12                     // at which a short test kills processes
	perCore   = 2                      // cycles at a time; they mostly wait
	share     = 120                    // one of so many cycles is for each point
)

// TestKill plays cycles and prints how they ended.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills some hundred processes")
	}
	list := make([]point, 0, len(points)+instants)
	cycles, times := len(points)+instants, 1
	if text := os.Getenv(cyclesEnv); text != "" {
		var err error
		if cycles, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", cyclesEnv, err)
		}
		times = max(1, cycles/share)
	}
	for range times {
		list = append(list, points...)
	}
	for len(list) < cycles {
		list = append(list, point{})
	}
	var played table
	t.Run("cycles", func(t *testing.T) {
		work := make(chan int, len(list))
		for i := range list {
			work <- i
		}
		close(work)
		for worker := range perCore * runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(worker), func(t *testing.T) {
				t.Parallel()
				for i := range work {
					t.Run(strconv.Itoa(i), func(t *testing.T) {
						outcome, died := play(t, uint64(i), list[i]) //nolint:gosec // an index
						played.add(list[i], outcome, died)
					})
				}
			})
		}
	})
	if times > 1 {
		fmt.Printf("%d cycles\n\n%s\n", cycles, &played) // only on request: make kill
	}
	for _, p := range points {
		if n := played.died[p.String()]; n < times && !t.Failed() {
			t.Errorf("only %d of %d processes died %s: the scenario does not reach it often enough", n, times, p)
		}
	}
}

// TestCrashLoop: a run whose process dies at every resume is not resumed for ever.
func TestCrashLoop(t *testing.T) {
	for _, at := range []string{"after began", "first byte", "before answered"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			c := newCycle(t, 1, point{at, "plain", 1})
			c.first()
			for c.dead() {
				if len(c.processes) > 2*recovery.MaxInterruptedCrashes {
					t.Fatalf("I25: it goes on after %d crashes", len(c.processes))
				}
				next := c.dying(c.plan, c.point)
				next.Mode = modeKeep
				c.run(next, 0)
			}
			outcome, wrong := c.check()
			c.report(wrong)
			if outcome != "asks crash_loop" {
				t.Errorf("I25: it came to %q", outcome)
			}
			if asked := len(c.lab.Requests()); asked > recovery.MaxInterruptedCrashes {
				t.Errorf("I25: %d requests for nothing: %v", asked, c.processes)
			}
		})
	}
}

// TestChecksFindFaults plants faults, and requires that the check of the violated invariant finds
// each.
func TestChecksFindFaults(t *testing.T) {
	for _, planted := range []struct{ fault, scenario, dies, want string }{
		{faultEarlyAck, "plain", "before answered", "I03"},
		{faultLostResult, "looks", "after tool_returned", "I04"},
		{faultUnsafeRepeat, "pays", "amid effect", "I05"},
		{faultEarlyEffect, "pays", "before tool_began", "I06"},
	} {
		t.Run(planted.fault, func(t *testing.T) {
			t.Parallel()
			c := newCycle(t, 1, point{planted.dies, planted.scenario, 1})
			c.plan.Fault = planted.fault
			if !c.first() {
				t.Fatalf("it did not die %s", planted.dies)
			}
			c.next(false)
			_, wrong := c.check()
			if !slices.ContainsFunc(wrong, func(w string) bool { return strings.HasPrefix(w, planted.want) }) {
				t.Errorf("%s was not found: %v\n%s", planted.want, wrong, c.transcript())
			}
		})
	}
}

// table counts the outcomes of cycles by their points.
type table struct {
	mu       sync.Mutex
	played   map[string]int
	died     map[string]int
	outcomes map[string]map[string]int
}

func (t *table) add(p point, outcome string, died bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.played == nil {
		t.played, t.died, t.outcomes = map[string]int{}, map[string]int{}, map[string]map[string]int{}
	}
	name := cmp.Or(p.String(), " any instant")
	t.played[name]++
	if died {
		t.died[name]++
	}
	if t.outcomes[name] == nil {
		t.outcomes[name] = map[string]int{}
	}
	t.outcomes[name][outcome]++
}

// String is the table as it is printed.
func (t *table) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "point\tcycles\tdied there\tthe run came to")
	for _, name := range slices.Sorted(maps.Keys(t.played)) {
		var came []string
		for _, outcome := range slices.Sorted(maps.Keys(t.outcomes[name])) {
			came = append(came, fmt.Sprintf("%s %d", outcome, t.outcomes[name][outcome]))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", name, t.played[name], t.died[name], strings.Join(came, ", "))
	}
	_ = w.Flush() // into memory
	return text.String()
}
