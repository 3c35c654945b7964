package config

import (
	"maps"
	"os"
	"strings"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/recovery"
)

// hostLabel is the label that every machine has: its name.
const hostLabel = "host"

// MachineHas is what this machine has for runs that need it: Machine, and its name as host unless
// Machine says another one.
func (c *Config) MachineHas() recovery.Labels {
	has := recovery.Labels{}
	if name, err := os.Hostname(); err == nil {
		has[hostLabel] = name
	}
	if has.Check() != nil { // the host's name is not a valid label
		has = recovery.Labels{}
	}
	maps.Copy(has, c.Machine)
	return has
}

// NeedsOf is what a machine must have to ask a model.
func (c *Config) NeedsOf(model string) recovery.Labels {
	entry, _, _ := strings.Cut(model, "/")
	return c.Providers[entry].Needs
}

// setMachine reads MULLIGAN_MACHINE: name=value, with commas between.
func (c *Config) setMachine(text string) (err error) {
	c.Machine, err = recovery.ParseLabels(splitList(text))
	return err
}

func labelsProblem(at string, l recovery.Labels) *yamlfile.Problem {
	if err := l.Check(); err != nil {
		return yamlfile.Problemf(at, "%v", err)
	}
	return nil
}
