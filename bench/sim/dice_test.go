package sim

import (
	"math/rand/v2"
	"sync"
	"time"
)

// The components of a world. Each has its own random source, so what one component draws, or that
// it is left out, does not change what another one draws.
const (
	diceWorld = iota
	diceDisk
	dicePerson
	diceCrashes
	diceScreen
	diceEnvironment
	diceCuts
	diceMachines
	diceDeploys
	diceModels  = 10
	diceTools   = 50
	dicePlugins = 100
)

// dice are one component's random source.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed, component uint64) *dice {
	return &dice{r: rand.New(rand.NewPCG(seed, component))}
}

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

func (d *dice) chance(p float64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Float64() < p
}

// duration is between 0 and limit; short ones are as likely as long ones.
func (d *dice) duration(limit time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.r.Float64()
	return time.Duration(float64(limit) * f * f * f)
}

func pick[T any](d *dice, of ...T) T { return of[d.n(len(of))] }
