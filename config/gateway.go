package config

import (
	"github.com/mulligan-run/mulligan/gateway"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Gateway is how much the HTTP API serves at a time; what is left out is the gateway's own.
type Gateway struct {
	Streams *int `yaml:"streams"` // of events
	Writes  *int `yaml:"writes"`  // requests that change something; more of them wait for their turn
	Reads   *int `yaml:"reads"`   // requests that read something; likewise

	Learn *bool `yaml:"learn"` // whether people may say by it what failures are; true

	Failures *int `yaml:"failures"` // wrong tokens, and codes, of one address in a minute
}

const maxAtATime = 100_000

func (e Gateway) problem() *yamlfile.Problem {
	for key, n := range map[string]*int{"streams": e.Streams, "writes": e.Writes, "reads": e.Reads, "failures": e.Failures} {
		if n != nil && (*n < 1 || *n > maxAtATime) {
			return yamlfile.Problemf("$.gateway."+key, "%d is not between 1 and %d", *n, maxAtATime)
		}
	}
	return nil
}

// Limits is the same in the gateway's words.
func (e Gateway) Limits() (l gateway.Limits) {
	if e.Streams != nil {
		l.Streams = int64(*e.Streams)
	}
	if e.Writes != nil {
		l.Writes = *e.Writes
	}
	if e.Reads != nil {
		l.Reads = *e.Reads
	}
	if e.Failures != nil {
		l.Failures = *e.Failures
	}
	return l
}
