package config

import "github.com/mulligan-run/mulligan/recovery"

// Policy puts the config's limits over the defaults.
func (c *Config) Policy(p *recovery.Policy) {
	if c.MaxRetries != nil {
		p.MaxRetries = *c.MaxRetries
	}
	if c.MaxRounds != nil {
		p.MaxRounds = *c.MaxRounds
	}
	if c.Parallel != nil {
		p.ParallelTools = *c.Parallel
	}
	p.StepCountsText = c.StepText
	p.Budget, p.Prices = c.Budget.OfRun(), c.prices()
}
