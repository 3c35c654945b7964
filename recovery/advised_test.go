package recovery

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// asked returns a run whose calls another program makes, and one of them has failed.
type asked struct {
	t   *testing.T
	run *Run
	now time.Time
	all []string
}

func newAsked(t *testing.T, change func(*Policy)) *asked {
	t.Helper()
	p := DefaultPolicy()
	p.Timeouts = Timeouts{Patience: 30_000}
	p.AutoRecover, p.Calls, p.Tools, p.Plugins, p.Models = true, CallsOfCaller, ToolsOfCaller, []string{"p"}, []string{"a/one", "b/two"}
	if change != nil {
		change(&p)
	}
	a := &asked{t: t, run: &Run{}, now: begin}
	a.write(Started{Model: "a/one", Policy: p})
	a.write(Claimed{Owner: "o", Epoch: 1})
	return a
}

// write applies an event in its stored form, as the runner does.
func (a *asked) write(b Body) {
	a.t.Helper()
	stored, err := json.Marshal(Event{Run: "r1", Seq: a.run.Seq + 1, Time: a.now, Body: b})
	if err != nil {
		a.t.Fatal(err)
	}
	var e Event
	if err := json.Unmarshal(stored, &e); err != nil {
		a.t.Fatal(err)
	}
	if err := a.run.Apply(e); err != nil {
		a.t.Fatal(err)
	}
	a.all = append(a.all, e.Type())
}

// fail has an attempt fail and the plugin say something; what the heart wants then is given.
func (a *asked) fail(model string, kind failure.Kind, vote Vote) []Effect {
	a.t.Helper()
	b := a.run.Made(model)
	a.write(b)
	f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Model = b.Model
	shown := ShownNothing
	if a.run.Policy.Delivery == DeliverFinal {
		shown = ShownPart
	}
	a.write(Failed{Attempt: b.Attempt, Failure: *f, Alternatives: []Alternative{{Model: "b/two"}}, Shown: shown})
	vote.Plugin = "p"
	return a.until(vote)
}

// until records what the heart concludes, with the plugin's answer, until it waits.
func (a *asked) until(vote Vote) []Effect {
	a.t.Helper()
	for range 20 {
		effects := Next(a.run)
		switch {
		case len(effects) > 0 && effects[0].Record != nil:
			a.write(effects[0].Record)
		case len(effects) > 0 && effects[0].Ask != nil:
			a.write(Voted{Occasion: effects[0].Ask.Occasion, Vote: vote})
		default:
			return effects
		}
	}
	a.t.Fatal("it never comes to an end")
	return nil
}

// TestACallerIsTold: what was decided is left to the caller, for as long as an answer may take.
func TestACallerIsTold(t *testing.T) {
	a := newAsked(t, nil)
	effects := a.fail("", failure.KindUnavailable, Vote{Action: ActionRetry, Delay: 1000})
	if len(effects) != 1 || effects[0].Timer == nil || !effects[0].Timer.At.Equal(begin.Add(time.Second+time.Hour)) {
		t.Fatalf("%+v", effects)
	}
	s := a.run.Situation()
	line := s.At(a.now, HeardNothing).Line
	if s.WaitingFor != WaitCaller || s.Held.By != HeldByCaller || !strings.HasSuffix(line, "The caller was told to try again in 1 s.") {
		t.Errorf("%+v: %s", s, line)
	}
	if _, err := a.run.Accept("", ButtonRetryNow, "", a.now); err == nil {
		t.Error("somebody else goes on with it")
	}
	a.now = a.now.Add(3 * time.Second)
	a.fail("b/two", failure.KindUnavailable, Vote{Action: ActionSwitchModel, NewModel: "b/two"})
	if a.run.Call.Attempts != 2 || a.run.Call.Retries != 0 || a.run.Model != "b/two" {
		t.Errorf("it went another way: %+v", a.run.Call)
	}
	a.now = a.run.Wait.Until
	a.write(Due{Timer: failure.TimerWait, Failure: a.run.Open.Seq})
	if rest := a.until(Vote{}); rest != nil || a.run.Status != StatusFailed || a.run.End == nil {
		t.Errorf("nobody came: %+v", a.run)
	}
}

// TestACallersPersonIsAsked: a person is asked also if the call recovers by itself and a limit
// forbids it, but not once a part of the answer was shown.
func TestACallersPersonIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Policy)
		kind    failure.Kind
		blocked string
		offered bool
	}{
		"without autoRecover": {func(p *Policy) { p.AutoRecover = false }, failure.KindUnavailable, "", true},
		"a limit":             {nil, failure.KindAuth, blockedHopeless, true},
		"shown":               {func(p *Policy) { p.Delivery = DeliverFinal }, failure.KindUnavailable, blockedShown, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsked(t, c.change)
			a.fail("", c.kind, Vote{Action: ActionRetry})
			if a.run.Open.Decision.BlockedBy != c.blocked || a.run.SuggestionOpen() != c.offered || (a.run.End == nil) != c.offered {
				t.Errorf("%+v; offered %v", a.run.Open.Decision, a.run.SuggestionOpen())
			}
		})
	}
}

// TestACallersConversation: only the caller can shorten it, and is told to twice at the most.
func TestACallersConversation(t *testing.T) {
	a := newAsked(t, nil)
	for n := range 4 {
		a.fail("", failure.KindContextOverflow, Vote{Action: ActionRetry, Adjust: Adjust{Compact: true}})
		if d := a.run.Open.Decision; (n < MaxCompactions) != (d.Adjust.Compact && d.BlockedBy == "") {
			t.Errorf("attempt %d: %+v", n, d)
		}
	}
}

// TestACallersEnd: an answer ends it, and so does giving up, which nobody is asked about.
func TestACallersEnd(t *testing.T) {
	a := newAsked(t, nil)
	a.fail("", failure.KindUnavailable, Vote{Action: ActionRetry})
	b := a.run.Made("")
	a.write(b)
	a.write(Failed{Attempt: b.Attempt, Failure: *failure.NewFailure(failure.KindAuth, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil), Cause: CauseGivenUp})
	if rest := a.until(Vote{}); rest != nil || a.run.Status != StatusFailed || a.run.Open.Failure.Kind != failure.KindAuth {
		t.Errorf("%v: %+v", a.all, a.run.Open)
	}
	if got := strings.Join(a.all, " "); got != "started claimed began failed voted decided waiting began failed ended" {
		t.Error(got)
	}
}
