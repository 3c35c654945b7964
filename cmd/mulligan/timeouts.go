package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// timer is one setting of spec §3.
type timer struct {
	name string
	at   func(*recovery.Timeouts) *recovery.Millis
}

// timers lists the settings, in the order in which they are explained.
var timers = []timer{
	{"first_event", func(t *recovery.Timeouts) *recovery.Millis { return &t.FirstEvent }},
	{"connect", func(t *recovery.Timeouts) *recovery.Millis { return &t.Connect }},
	{"bytes", func(t *recovery.Timeouts) *recovery.Millis { return &t.Bytes }},
	{"idle", func(t *recovery.Timeouts) *recovery.Millis { return &t.Idle }},
	{"step", func(t *recovery.Timeouts) *recovery.Millis { return &t.Step }},
	{"max_turn", func(t *recovery.Timeouts) *recovery.Millis { return &t.MaxTurn }},
	{"run", func(t *recovery.Timeouts) *recovery.Millis { return &t.Run }},
	{"tool", func(t *recovery.Timeouts) *recovery.Millis { return &t.Tool }},
	{"progress_after", func(t *recovery.Timeouts) *recovery.Millis { return &t.ProgressAfter }},
}

func findTimer(name string) (timer, bool) {
	for _, t := range timers {
		if t.name == name {
			return t, true
		}
	}
	return timer{}, false
}

func timerNames() string {
	var names []string
	for _, t := range timers {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

// parseTimeout reads a duration such as 30s or 2m; 0 is off.
func parseTimeout(text string) (recovery.Millis, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration: write for example 30s, 2m or 1h30m, or 0 for off", text)
	case d < 0:
		return 0, fmt.Errorf("%s is negative; 0 is off", text)
	case d != 0 && d < time.Second:
		return 0, fmt.Errorf("%s is too short: at least 1s, or 0 for off", text)
	case d > maxTimeout:
		return 0, fmt.Errorf("%s is longer than 31 days; 0 is off", text)
	}
	return recovery.InMillis(d), nil
}

func checkTimeout(name, text string) error {
	if _, ok := findTimer(name); !ok {
		return fmt.Errorf("%q is not a timeout; there are: %s", name, timerNames())
	}
	_, err := parseTimeout(text)
	return err
}

// timeouts is what is configured over the defaults. max_turn follows run where
// only that is set.
func (c *config) timeouts() recovery.Timeouts {
	all := recovery.DefaultPolicy().Timeouts
	for _, t := range timers {
		if text, set := c.Timeouts[t.name]; set {
			*t.at(&all), _ = parseTimeout(text) // it was checked
		}
	}
	if _, set := c.Timeouts["max_turn"]; !set {
		all.MaxTurn = all.Run
	}
	return all
}

// patient is what a model gets that may be silent for minutes while all is well.
const patient = recovery.Millis(300_000)

// timeoutsFor gives a model the time that it needs, where nobody said otherwise (set
// is what somebody did). One on this machine may have to load first, and streams no
// pings; one that thinks silently says nothing until it is done with that.
func (m *models) timeoutsFor(name string, t recovery.Timeouts, set map[string]string) recovery.Timeouts {
	switch {
	case m.loopback(name):
		return lengthen(t, set, map[string]recovery.Millis{"first_event": patient, "bytes": patient, "idle": 0})
	case m.thinksSilently(name):
		return lengthen(t, set, map[string]recovery.Millis{"first_event": patient, "idle": patient})
	}
	return t
}

// lengthen puts other values in place of those that are the usual ones, unset.
func lengthen(t recovery.Timeouts, set map[string]string, others map[string]recovery.Millis) recovery.Timeouts {
	usual := recovery.DefaultPolicy().Timeouts
	for _, timer := range timers {
		other, ok := others[timer.name]
		if now := timer.at(&t); ok && set[timer.name] == "" && *now == *timer.at(&usual) {
			*now = other
		}
	}
	return t
}
