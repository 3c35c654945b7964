package main

import (
	"os"

	"github.com/mulligan-run/mulligan/config"
)

// corrections are those of the configuration that the flags choose.
func (c *common) corrections() (*config.Corrections, error) {
	config, err := config.Load(c.config, os.Getenv)
	if err != nil {
		return nil, err
	}
	if c.state != "" {
		config.State = c.state
	}
	return config.LearnedFailures(os.Getenv)
}
