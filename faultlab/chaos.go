package faultlab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// Chaos makes a lab fail now and then: some requests play a row of the fault catalogue, and all
// others the next step of their model's script, or chaosAnswer if it has none. Which requests fail,
// and how, depends only on Seed and on the order and the wires of the requests.
type Chaos struct {
	Seed   uint64
	Rate   float64  // the probability that a request plays a row, 0–1
	Every  int      // in addition, every n-th request does; 0 = none
	Rows   []string // rows, variants and kinds to choose from; empty = all that can be played
	Models []string // the models that may fail; empty = all
}

// chaosAnswer is what a model without a script answers under [Chaos].
const chaosAnswer = "Everything is fine."

// Chaos sets how often the lab fails, and starts counting requests again; the zero Chaos ends it.
// It is an error if Rate or Every is out of range, or if a row cannot be played over HTTP.
func (l *Lab) Chaos(c Chaos) error {
	if !(c.Rate >= 0 && c.Rate <= 1) || c.Every < 0 {
		return errors.New("chaos: the rate is not between 0 and 1, or every is negative")
	}
	steps, err := chaosSteps(c.Rows)
	if err != nil {
		return fmt.Errorf("chaos: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chaos = nil
	l.memory.change()
	if c.Rate > 0 || c.Every > 0 {
		c.Models = slices.Clone(c.Models)
		l.chaos = &chaos{Chaos: c, steps: steps, dice: rand.New(rand.NewPCG(c.Seed, 0))}
	}
	return nil
}

// chaosSteps are the rows for which names stand, without duplicates.
func chaosSteps(names []string) ([]Step, error) {
	if len(names) == 0 {
		for _, s := range catalogue.All() {
			if s.Wire != "" {
				names = append(names, s.Name())
			}
		}
	}
	var steps []Step
	for _, name := range names {
		found, err := Kind(name)
		if err != nil {
			var row Step
			if row, err = Row(name); err != nil {
				return nil, err
			}
			found = []Step{row}
		}
		for _, s := range found {
			if !slices.ContainsFunc(steps, func(have Step) bool { return have.name == s.name }) {
				steps = append(steps, s)
			}
		}
	}
	return steps, nil
}

// chaos is a Chaos in progress.
type chaos struct {
	Chaos
	steps []Step
	dice  *rand.Rand
	asked int // requests so far
}

// strike gives the row for the next request on a wire, if that plays one. Each request draws the
// same number of random numbers, so that it does not influence later ones.
func (c *chaos) strike(wire string) (Step, bool) {
	c.asked++
	chance, choice := c.dice.Float64(), c.dice.Uint64()
	if chance >= c.Rate && (c.Every == 0 || c.asked%c.Every != 0) {
		return Step{}, false
	}
	var fit []Step
	for _, s := range c.steps {
		if s.plays(wire) {
			fit = append(fit, s)
		}
	}
	if fit == nil {
		return Step{}, false
	}
	return fit[choice%uint64(len(fit))], true
}

// disturb gives the step of a request for which chaos decides. The caller holds l.mu.
func (l *Lab) disturb(model, wire string) (Step, bool) {
	if l.chaos == nil || len(l.chaos.Models) > 0 && !slices.Contains(l.chaos.Models, model) {
		return Step{}, false
	}
	if step, ok := l.chaos.strike(wire); ok {
		return step, true
	}
	_, own := l.scripts[model]
	_, common := l.scripts[""]
	return Answer(chaosAnswer), !own && !common
}
