package server

import (
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
)

// demoLab is the demo's provider, for people to play with on the page.
type demoLab struct{ models *Models }

// lab is the demo's provider; nil if a provider with its name is configured, or other machines
// drive the runs.
func (m *Models) lab() gateway.Lab {
	if !m.isDemo(DemoFable) || !m.isDemo(DemoAtlas) || m.driveless {
		return nil
	}
	return demoLab{m}
}

// Faults implements gateway.Lab.
func (l demoLab) Faults() gateway.LabListed {
	list := gateway.LabListed{
		Model: DemoFable, Fallback: DemoAtlas,
		Timeouts: map[string]int64{"first_event": 5000, "idle": 3000}, // nobody watches for minutes
	}
	for _, f := range faultlab.DemoFaults() {
		list.Faults = append(list.Faults, gateway.LabFault{Name: f.Name, Title: f.Title, Does: f.Does, Prompt: f.Prompt})
	}
	return list
}

// Fail implements gateway.Lab.
func (l demoLab) Fail(name string) error {
	if _, err := l.models.StartDemo(); err != nil {
		return err
	}
	return l.models.Lab.FailAs(name)
}
