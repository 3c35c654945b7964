package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/recovery"
)

// Timeouts are timers in a config, by their names in spec §3, as written.
type Timeouts map[string]string

// problem finds the first invalid timer; at is the path of the timers.
func (e Timeouts) problem(at string) *yamlfile.Problem {
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if _, err := parseTimeout(name, e[name]); err != nil {
			return yamlfile.Problemf(at+"."+yamlfile.QuotePath(name), "%v", err)
		}
	}
	return nil
}

// settings are the timers of a valid config; nil = none.
func (e Timeouts) settings() recovery.Settings {
	if len(e) == 0 {
		return nil
	}
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
	d, err := time.ParseDuration(text) // it accepts "0"
	switch {
	case err != nil && isDuration(text) && strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%s is negative (%s); 0 is off", timer, text)
	case err != nil && isDuration(text):
		return 0, fmt.Errorf("%s is longer than 31 days (%s); 0 is off", timer, text)
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration: write for example 30s, 2m or 1h30m, or 0 for off", text)
	}
	value := failure.InMillis(d)
	return value, recovery.Settings{timer: value}.Check()
}

// isDuration reports whether a text has the form of a duration, however long it is: time.ParseDuration
// refuses one of more than 292 years as if it had not. Its numbers are cut to their first digit.
func isDuration(text string) bool {
	var short strings.Builder
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' || i == 0 || text[i-1] < '0' || text[i-1] > '9' {
			short.WriteByte(text[i])
		}
	}
	_, err := time.ParseDuration(short.String())
	return err == nil
}

// ParseTimeouts reads settings of a command line, such as first-event=10s.
func ParseTimeouts(settings []string) (recovery.Settings, error) {
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

// TimeoutsUsage describes, for a flag, what ParseTimeouts reads.
func TimeoutsUsage() string {
	var names []string
	for _, timer := range recovery.SettableTimers() {
		names = append(names, string(timer))
	}
	return "a limit such as idle=2m; 0 = off (repeatable): " + strings.Join(names, ", ")
}

// TimeoutLayer is the timers that were set in one place.
type TimeoutLayer struct {
	Set   recovery.Settings
	Where func(timer failure.Timer) string // for people
}

// TimeoutLayers are the settings for a model in the order of their rank: a later one wins. run is
// what is set for the single run.
func (c *Config) TimeoutLayers(model string, run recovery.Settings) []TimeoutLayer {
	entry, name, _ := strings.Cut(model, "/")
	of := c.Providers[entry]
	under := func(path string) func(failure.Timer) string {
		return func(timer failure.Timer) string { return path + string(timer) }
	}
	return []TimeoutLayer{
		{c.Timeouts.settings(), under("timeouts.")},
		{of.Timeouts.settings(), under("providers." + entry + ".timeouts.")},
		{of.Models[name].Timeouts.settings(), under("providers." + entry + ".models." + name + ".timeouts.")},
		{c.Environment, timeoutVariable},
		{run, func(timer failure.Timer) string { return "--timeout " + string(timer) }},
	}
}

// timeoutVariable is the environment variable for a timer.
func timeoutVariable(timer failure.Timer) string {
	return envPrefix + strings.ToUpper(string(timer))
}
