package config

import (
	"net"

	"github.com/mulligan-run/mulligan/gateway"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Gateway limits what the HTTP API serves at a time; missing fields are the gateway's defaults.
type Gateway struct {
	Streams *int `yaml:"streams"` // event streams
	Writes  *int `yaml:"writes"`  // requests that change something; further ones wait for their turn
	Reads   *int `yaml:"reads"`   // requests that read something; likewise

	Learn *bool `yaml:"learn"` // whether people may correct failures through the API; true

	// Live is where members that share the database connect to hear the text of runs driven here
	// while it streams: host:port of this machine, as the others reach it, or NoLive; "" = a free
	// port of the address from which this machine reaches the database.
	Live string `yaml:"live"`

	Failures *int `yaml:"failures"` // wrong tokens and codes per address and minute
}

const maxAtATime = 100_000

// NoLive is the Live of a member that others cannot connect to: they see its runs' text once it
// is saved.
const NoLive = "none"

func (e Gateway) problem() *yamlfile.Problem {
	for key, n := range map[string]*int{"streams": e.Streams, "writes": e.Writes, "reads": e.Reads, "failures": e.Failures} {
		if n != nil && (*n < 1 || *n > maxAtATime) {
			return yamlfile.Problemf("$.gateway."+key, "%d is not between 1 and %d", *n, maxAtATime)
		}
	}
	if host, port, err := net.SplitHostPort(e.Live); e.Live != "" && e.Live != NoLive && (err != nil || host == "" || port == "") {
		return yamlfile.Problemf("$.gateway.live", "%q is not the address of this machine as others reach it: write 10.0.0.4:8485, or none", e.Live)
	}
	return nil
}

// Limits converts e to the gateway's form.
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
