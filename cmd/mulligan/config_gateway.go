package main

import "github.com/mulligan-run/mulligan/gateway"

// gatewayEntry is how much the HTTP API serves at a time; what is left out is the gateway's own.
type gatewayEntry struct {
	Streams *int `yaml:"streams"` // of events
	Writes  *int `yaml:"writes"`  // requests that change something; more of them wait for their turn
	Reads   *int `yaml:"reads"`   // requests that read something; likewise

	Learn *bool `yaml:"learn"` // whether people may say by it what failures are; true

	Failures *int `yaml:"failures"` // wrong tokens, and codes, of one address in a minute
}

const maxAtATime = 100_000

func (e gatewayEntry) problem() *problem {
	for key, n := range map[string]*int{"streams": e.Streams, "writes": e.Writes, "reads": e.Reads, "failures": e.Failures} {
		if n != nil && (*n < 1 || *n > maxAtATime) {
			return problemf("$.gateway."+key, "%d is not between 1 and %d", *n, maxAtATime)
		}
	}
	return nil
}

func (e gatewayEntry) limits() (l gateway.Limits) {
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
