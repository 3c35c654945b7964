package recovery

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
)

// drawSettings are a few timers, in range.
func drawSettings() *rapid.Generator[Settings] {
	value := rapid.Custom(func(t *rapid.T) failure.Millis {
		if rapid.Bool().Draw(t, "off") {
			return 0
		}
		return failure.Millis(rapid.Int64Range(MinTimeout.Milliseconds(), maxTimeout.Milliseconds()).Draw(t, "ms"))
	})
	return rapid.Custom(func(t *rapid.T) Settings {
		return rapid.MapOfN(rapid.SampledFrom(SettableTimers()), value, 0, 5).Draw(t, "settings")
	})
}

// TestResolveTimeouts: of each timer the highest layer that sets it is right, and a turn
// has the run's time unless a layer says otherwise.
func TestResolveTimeouts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := rapid.SliceOfN(drawSettings(), 0, 6).Draw(t, "layers")
		builtIn := DefaultPolicy().Timeouts
		got := ResolveTimeouts(builtIn, layers...)
		for _, timer := range SettableTimers() {
			want := *builtIn.Of(timer)
			if timer == failure.TimerMaxTurn {
				want = got.Run
			}
			for _, layer := range layers {
				if err := layer.Check(); err != nil {
					t.Fatal(err)
				}
				if value, set := layer[timer]; set {
					want = value
				}
			}
			if *got.Of(timer) != want {
				t.Fatalf("%s is %d, not %d", timer, *got.Of(timer), want)
			}
		}
	})
}

func TestAnEarlierTurnStays(t *testing.T) {
	builtIn := Timeouts{MaxTurn: 60_000, Run: 3_600_000}
	if got := ResolveTimeouts(builtIn, Settings{failure.TimerRun: 7_200_000}); got.MaxTurn != 60_000 || got.Run != 7_200_000 {
		t.Errorf("%+v", got)
	}
}

func TestSettingsCheck(t *testing.T) {
	for _, timer := range SettableTimers() {
		for value, want := range map[failure.Millis]string{
			0: "", 1000: "", failure.InMillis(maxTimeout): "",
			-1: "is negative", 1: "is too short (1ms): at least 1s, or 0 for off", 999: "is too short",
			failure.InMillis(maxTimeout) + 1: "is longer than 31 days", 1 << 62: "is longer than 31 days", -1 << 63: "is negative",
		} {
			err := Settings{timer: value}.Check()
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), string(timer)+" "+want) {
				t.Errorf("%s = %d: %v", timer, value, err)
			}
		}
	}
	for _, timer := range []failure.Timer{"", "idel", failure.TimerWait, failure.TimerExpiry} {
		if err := (Settings{timer: 0}).Check(); err == nil || !strings.Contains(err.Error(), "there are: first_event, connect, ") {
			t.Errorf("%q: %v", timer, err)
		}
	}
	if err := (Settings{failure.TimerIdle: 5}).CheckFrom(5 * time.Millisecond); err != nil {
		t.Error(err)
	}
}

func TestPinTimeouts(t *testing.T) {
	own := map[string]Timeouts{
		"a/one":   {Idle: 1000, Run: 9000},
		"a/alike": {Idle: 1000, Run: 5000}, // a run's time is no call's
		"b/slow":  {Idle: 0, Connect: 3000, Run: 7000, Tool: 1000},
	}
	p := Policy{Models: []string{"a/one", "a/alike", "b/slow"}, ModelTimeouts: map[string]Timeouts{"old/one": {}}}
	p.PinTimeouts("a/one", func(model string) Timeouts { return own[model] })
	if len(p.ModelTimeouts) != 1 {
		t.Errorf("%+v", p.ModelTimeouts)
	}
	for model, want := range map[string]Timeouts{
		"a/one": own["a/one"], "a/alike": own["a/one"], "c/else": own["a/one"],
		"b/slow": {Connect: 3000, Run: 9000},
	} {
		if got := p.TimeoutsOf(model); got != want {
			t.Errorf("%s: %+v", model, got)
		}
	}
	p.PinTimeouts("a/one", func(string) Timeouts { return own["a/one"] })
	if p.ModelTimeouts != nil {
		t.Errorf("all alike: %+v", p.ModelTimeouts)
	}
}
