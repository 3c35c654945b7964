package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// Timeouts are the timers of a run (spec §3); 0 is off.
type Timeouts struct {
	Connect       failure.Millis `json:"connectMs,omitempty"`
	FirstEvent    failure.Millis `json:"firstEventMs,omitempty"`
	Bytes         failure.Millis `json:"bytesMs,omitempty"`
	Idle          failure.Millis `json:"idleMs,omitempty"`
	Step          failure.Millis `json:"stepMs,omitempty"`
	MaxTurn       failure.Millis `json:"maxTurnMs,omitempty"`
	Run           failure.Millis `json:"runMs,omitempty"`
	Tool          failure.Millis `json:"toolMs,omitempty"`
	ProgressAfter failure.Millis `json:"progressAfterMs,omitempty"`
	Patience      failure.Millis `json:"patienceMs,omitempty"`
}

// SettableTimers lists the timers that Timeouts holds, in the order of their explanations.
func SettableTimers() []failure.Timer { return slices.Clone(settable) }

var settable = []failure.Timer{
	failure.TimerFirstEvent, failure.TimerConnect, failure.TimerBytes, failure.TimerIdle, failure.TimerStep, failure.TimerMaxTurn, failure.TimerRun, failure.TimerTool, failure.TimerProgress,
	failure.TimerPatience,
}

// Of points to the field of that timer; nil for a timer that is not a setting.
func (t *Timeouts) Of(timer failure.Timer) *failure.Millis {
	switch timer {
	case failure.TimerFirstEvent:
		return &t.FirstEvent
	case failure.TimerConnect:
		return &t.Connect
	case failure.TimerBytes:
		return &t.Bytes
	case failure.TimerIdle:
		return &t.Idle
	case failure.TimerStep:
		return &t.Step
	case failure.TimerMaxTurn:
		return &t.MaxTurn
	case failure.TimerRun:
		return &t.Run
	case failure.TimerTool:
		return &t.Tool
	case failure.TimerProgress:
		return &t.ProgressAfter
	case failure.TimerPatience:
		return &t.Patience
	}
	return nil
}

// Check says what is wrong with the first timer that is negative, or longer than MaxTimeout.
func (t Timeouts) Check() error {
	for _, timer := range settable {
		if err := checkTimer(timer, *t.Of(timer), 0); err != nil {
			return err
		}
	}
	return nil
}

// The bounds of a timer that is not off.
const (
	MinTimeout = time.Second
	maxTimeout = 31 * 24 * time.Hour
)

// Settings are the timers that were set; 0 is off, and a missing timer was not set.
type Settings map[failure.Timer]failure.Millis

// Check says what is wrong with the first setting that is not a timer, or whose value is neither
// 0 nor between MinTimeout and MaxTimeout.
func (s Settings) Check() error { return s.CheckFrom(MinTimeout) }

// CheckFrom is Check with a lower bound other than MinTimeout.
func (s Settings) CheckFrom(least time.Duration) error {
	if len(s) == 0 {
		return nil
	}
	for _, timer := range slices.Sorted(maps.Keys(s)) {
		if new(Timeouts).Of(timer) == nil {
			return fmt.Errorf("%q is not a timer; there are: %s", timer, timerNames())
		}
		if err := checkTimer(timer, s[timer], least); err != nil {
			return err
		}
	}
	return nil
}

func checkTimer(timer failure.Timer, limit failure.Millis, least time.Duration) error {
	d := limit.Duration()
	switch {
	case d < 0:
		return fmt.Errorf("%s is negative (%s); 0 is off", timer, d)
	case d > 0 && d < least:
		return fmt.Errorf("%s is too short (%s): at least %s, or 0 for off", timer, d, least)
	case d > maxTimeout:
		return fmt.Errorf("%s is longer than 31 days (%s); 0 is off", timer, d)
	}
	return nil
}

func timerNames() string {
	var names []string
	for _, timer := range SettableTimers() {
		names = append(names, string(timer))
	}
	return strings.Join(names, ", ")
}

// ResolveTimeouts applies the layers to the built-in timers; a later layer wins. A turn may take as
// long as the run, unless a layer or builtIn says otherwise.
func ResolveTimeouts(builtIn Timeouts, layers ...Settings) Timeouts {
	resolved, turn := builtIn, builtIn.MaxTurn != builtIn.Run
	for _, layer := range layers {
		for timer, value := range layer {
			if at := resolved.Of(timer); at != nil {
				*at = value
			}
		}
		_, set := layer[failure.TimerMaxTurn]
		turn = turn || set
	}
	if !turn {
		resolved.MaxTurn = resolved.Run
	}
	return resolved
}

// TimeoutsOf gives the timers for calls of a model. The clocks of the run, its turns, its steps and
// its tools are the same for all models.
func (p Policy) TimeoutsOf(model string) Timeouts {
	t := p.Timeouts
	if own, ok := p.ModelTimeouts[model]; ok {
		t.Connect, t.FirstEvent, t.Bytes, t.Idle = own.Connect, own.FirstEvent, own.Bytes, own.Idle
	}
	return t
}

// PinTimeouts sets the timers of a run that begins with model: Timeouts are that model's, and
// ModelTimeouts are those of p's other models if they differ.
func (p *Policy) PinTimeouts(model string, of func(model string) Timeouts) {
	p.Timeouts = of(model)
	usual, own := p.Timeouts.ofCalls(), map[string]Timeouts{}
	for _, other := range p.Models {
		if other == model {
			continue
		}
		if t := of(other).ofCalls(); t != usual {
			own[other] = t
		}
	}
	p.ModelTimeouts = nil
	if len(own) > 0 {
		p.ModelTimeouts = own
	}
}

// ofCalls keeps only the timers of a single model call.
func (t Timeouts) ofCalls() Timeouts {
	return Timeouts{Connect: t.Connect, FirstEvent: t.FirstEvent, Bytes: t.Bytes, Idle: t.Idle}
}
