// Package tally counts, for people, what becomes of model calls and of plugins' votes in the runs
// that this process drives.
//
//	t := tally.New(time.Now(), known.Tomorrow)
//	r := runner.New(runner.WithObserver(t))
//	…
//	for _, m := range t.Models(time.Now()) { … }
//	votes := t.Votes(time.Now())
//
// It is a runner's observer, and knows nothing but what it is told: it reads no store, and is empty
// when its process begins. What it holds is bounded: calls and votes of the last 24 hours by the hour
// (window.go), the last 256 times to a first token of each of 200 models (models.go), the votes of 200
// plugins (votes.go).
package tally
