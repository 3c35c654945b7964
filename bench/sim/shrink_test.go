package sim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failures is the folder of worlds that violated an invariant: the recipe in the first line, then
// the violations and the log. Every run plays the files that are committed, as regression tests.
const failures = "testdata/failures"

// again is how often a world is played to see whether it violates an invariant, since the order of
// goroutines is not deterministic.
const again = 3

// shrink looks for a smaller world that violates one of the same invariants: first with fewer
// scripted steps, then without one part after another.
func shrink(t *testing.T, rec record) record {
	broken := rec.broken()
	for steps := range maxSteps {
		smaller := rec.recipe
		smaller.steps = steps
		if found, ok := breaks(t, smaller, broken); ok {
			rec = found
			break
		}
	}
	for _, part := range parts {
		if found, ok := breaks(t, rec.recipe.leaving(part), broken); ok {
			rec = found
		}
	}
	return rec
}

// breaks plays a recipe and reports whether it violates one of the invariants.
func breaks(t *testing.T, r recipe, ids map[string]bool) (record, bool) {
	for range again {
		rec := play(t, r)
		for id := range rec.broken() {
			if ids[id] {
				return rec, true
			}
		}
	}
	return record{}, false
}

// report shrinks a world, fails the test with it, and keeps it.
func report(t *testing.T, rec record) {
	t.Helper()
	small := shrink(t, rec)
	name := filepath.Join(failures, fmt.Sprintf("%d.txt", rec.recipe.seed))
	kept := "kept as bench/sim/" + name
	if err := os.MkdirAll(failures, 0o750); err != nil {
		kept = err.Error()
	} else if err := os.WriteFile(name, []byte(small.String()), 0o600); err != nil {
		kept = err.Error()
	}
	t.Errorf("seed %d: %s\nas small as it gets, %s:\n%s\nagain: SEED=%d make sim", rec.recipe.seed,
		strings.Join(rec.wrong, "\n"), kept, small, rec.recipe.seed)
}

// TestSimRegressions plays every kept world, as it was recorded and with all its parts.
func TestSimRegressions(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(failures, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // one of ours
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := bytes.Cut(text, []byte("\n"))
		kept, err := parseRecipe(string(first))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for range again {
			for _, r := range []recipe{kept, of(kept.seed)} {
				if rec := play(t, r); len(rec.wrong) > 0 {
					t.Errorf("%s broke again:\n%s", name, rec)
				}
			}
		}
	}
}

// TestRecipes: what String writes, parseRecipe reads.
func TestRecipes(t *testing.T) {
	for _, r := range []recipe{of(7), {seed: 1 << 63, steps: 0}, of(3).leaving(partDisk).leaving(partTools)} {
		read, err := parseRecipe(r.String())
		if err != nil || read.String() != r.String() {
			t.Errorf("%q is read as %q: %v", r, read, err)
		}
	}
	if r, err := parseRecipe("1234"); err != nil || r.seed != 1234 || r.steps != allSteps {
		t.Errorf("a seed is read as %q: %v", r, err)
	}
	for _, bad := range []string{"seed=-1", "seed=1 without=nothing", "luck=7"} {
		if r, err := parseRecipe(bad); err == nil {
			t.Errorf("%q is read as %q", bad, r)
		}
	}
}
