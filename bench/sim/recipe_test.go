package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The parts of a world that a recipe can leave out.
const (
	partMachines = "machines" // of processes that have a Journal each over one store
	partPlugins  = "plugins"
	partTools    = "tools"
	partDisk     = "disk"    // the faults of the store
	partCancels  = "cancels" // a person's impatience
	partCuts     = "cuts"    // calls that a person cuts short
	partCrashes  = "crashes" // of processes, also those that only stop for a while
	partDeploys  = "deploys" // of processes that are told to end
	partNetwork  = "network" // that goes and comes back
	partClock    = "clock"   // the wall clock is set, or the computer sleeps
)

// parts are in the order in which shrinking tries to leave them out.
var parts = []string{partMachines, partPlugins, partNetwork, partClock, partDisk, partCrashes, partDeploys, partCancels, partCuts, partTools}

const allSteps = -1

// recipe describes a world: a seed draws it, and leaving a part out does not change what the other
// parts draw.
type recipe struct {
	seed    uint64
	steps   int // scripted steps of each model, followed by an answer; allSteps = as drawn
	without []string
}

func of(seed uint64) recipe { return recipe{seed: seed, steps: allSteps} }

func (r recipe) has(part string) bool { return !slices.Contains(r.without, part) }

func (r recipe) leaving(part string) recipe {
	r.without = append(slices.Clip(r.without), part)
	return r
}

// String is the form that parseRecipe reads: "seed=7 steps=2 without=plugins,disk".
func (r recipe) String() string {
	s := fmt.Sprintf("seed=%d", r.seed)
	if r.steps != allSteps {
		s += fmt.Sprintf(" steps=%d", r.steps)
	}
	if len(r.without) > 0 {
		s += " without=" + strings.Join(r.without, ",")
	}
	return s
}

// parseRecipe reads a recipe; a number alone is a seed.
func parseRecipe(line string) (recipe, error) {
	r := of(0)
	for _, field := range strings.Fields(line) {
		name, value, named := strings.Cut(field, "=")
		if !named {
			name, value = "seed", field
		}
		var err error
		switch name {
		case "seed":
			r.seed, err = strconv.ParseUint(value, 10, 64)
		case "steps":
			r.steps, err = strconv.Atoi(value)
		case "without":
			r.without = strings.Split(value, ",")
			for _, part := range r.without {
				if !slices.Contains(parts, part) {
					return r, fmt.Errorf("recipe %q: there is no part %q; there are: %s", line, part, strings.Join(parts, ", "))
				}
			}
		default:
			err = fmt.Errorf("%q is not seed, steps or without", name)
		}
		if err != nil {
			return r, fmt.Errorf("recipe %q: %w", line, err)
		}
	}
	return r, nil
}
