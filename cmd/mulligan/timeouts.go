package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// timeoutsEntry is timers in a config, by their names in spec §3, as written.
type timeoutsEntry map[string]string

// problem finds the first of the timers that is wrong; at is where they stand.
func (e timeoutsEntry) problem(at string) *problem {
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if _, err := parseTimeout(name, e[name]); err != nil {
			return problemf(at+"."+quotePath(name), "%v", err)
		}
	}
	return nil
}

// settings are the timers of a config that has no problem.
func (e timeoutsEntry) settings() recovery.Settings {
	set := recovery.Settings{}
	for name, text := range e {
		set[failure.Timer(name)], _ = parseTimeout(name, text)
	}
	return set
}

// parseTimeout reads the value of a timer, such as 30s or 2m; 0 is off.
func parseTimeout(name, text string) (failure.Millis, error) {
	timer := failure.Timer(name)
	if err := (recovery.Settings{timer: 0}).Check(); err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text) // knows "0"
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: write for example 30s, 2m or 1h30m, or 0 for off", text)
	}
	value := failure.InMillis(d)
	return value, recovery.Settings{timer: value}.Check()
}

// parseTimeouts reads settings of a command line, such as first-event=10s.
func parseTimeouts(settings []string) (recovery.Settings, error) {
	set := recovery.Settings{}
	for _, setting := range settings {
		name, text, _ := strings.Cut(setting, "=")
		name = strings.ReplaceAll(name, "-", "_")
		value, err := parseTimeout(name, text)
		if err != nil {
			return nil, fmt.Errorf("--timeout %s: %w", setting, err)
		}
		set[failure.Timer(name)] = value
	}
	return set, nil
}

// timeoutsUsage says of a flag what parseTimeouts reads.
func timeoutsUsage() string {
	var names []string
	for _, timer := range recovery.SettableTimers() {
		names = append(names, string(timer))
	}
	return "a limit such as idle=2m; 0 = off (repeatable): " + strings.Join(names, ", ")
}

// timeoutLayer is what somebody set in one place.
type timeoutLayer struct {
	set   recovery.Settings
	where func(timer failure.Timer) string // for people
}

// timeoutLayers are the settings for a model in the order of their rank, so that what
// a later one sets wins; run is what is set for the one run.
func (c *config) timeoutLayers(model string, run recovery.Settings) []timeoutLayer {
	entry, name, _ := strings.Cut(model, "/")
	of := c.Providers[entry]
	under := func(path string) func(failure.Timer) string {
		return func(timer failure.Timer) string { return path + string(timer) }
	}
	return []timeoutLayer{
		{c.Timeouts.settings(), under("timeouts.")},
		{of.Timeouts.settings(), under("providers." + entry + ".timeouts.")},
		{of.Models[name].Timeouts.settings(), under("providers." + entry + ".models." + name + ".timeouts.")},
		{c.environment, timeoutVariable},
		{run, func(timer failure.Timer) string { return "--timeout " + string(timer) }},
	}
}

// timeoutVariable is the name of a timer in the environment.
func timeoutVariable(timer failure.Timer) string {
	return "MULLIGAN_" + strings.ToUpper(string(timer))
}

// timeoutsOf are the timers of a model.
func (c *config) timeoutsOf(models *models, model string, run recovery.Settings) recovery.Timeouts {
	builtIn, _ := models.builtInTimeouts(model)
	var layers []recovery.Settings
	for _, layer := range c.timeoutLayers(model, run) {
		layers = append(layers, layer.set)
	}
	return recovery.ResolveTimeouts(builtIn, layers...)
}

// builtInTimeouts are the timers of a model for which nobody set anything, and why they
// are not the usual ones; "" where they are.
func (m *models) builtInTimeouts(model string) (t recovery.Timeouts, why string) {
	const patient = failure.Millis(300_000)
	t = recovery.DefaultPolicy().Timeouts
	switch {
	case m.local(model): // it may have to load first, and streams no pings
		t.FirstEvent, t.Bytes, t.Idle = patient, patient, 0
		return t, "is one of a local model server"
	case m.thinksSilently(model): // it says nothing until it is done with that
		t.FirstEvent, t.Idle = patient, patient
		return t, "thinks silently"
	}
	return t, ""
}
