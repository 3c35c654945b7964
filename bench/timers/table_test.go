package timers

import (
	"context"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// The settings under which situations are played: the defaults for a remote provider and for a
// local model server, and each of the run's timers alone.
var (
	builtIn = settings{name: "built in, elsewhere", whose: elsewhere}
	atHome  = settings{name: "built in, this machine", whose: thisMachine}

	stepAlone = settings{name: "step 2 min, no other", set: alone(failure.TimerStep, 2*time.Minute)}
	turnAlone = settings{name: "max_turn 30 min, no other", set: alone(failure.TimerMaxTurn, 30*time.Minute)}
	runAlone  = settings{name: "run 30 min, no other", set: alone(failure.TimerRun, 30*time.Minute)}

	// Without an idle timer, pings go on until the turn's time is over.
	longTurn = settings{name: "built in, this machine; max_turn 6 h", whose: thisMachine, set: recovery.Settings{failure.TimerMaxTurn: 6 * 3_600_000}}

	// Operating systems give up on a connection by themselves.
	shortTurn = settings{name: "max_turn 2 min, no other", set: alone(failure.TimerMaxTurn, 2*time.Minute)}
	shortRun  = settings{name: "run 2 min, no other", set: alone(failure.TimerRun, 2*time.Minute)}
)

type settings struct {
	name  string
	whose audience
	set   recovery.Settings
}

type audience int

const (
	everybody audience = iota
	elsewhere
	thisMachine
)

func (a audience) has(e entry) bool { return a == everybody || e.local == (a == thisMachine) }

// alone switches all timers off but one and the notes.
func alone(timer failure.Timer, limit time.Duration) recovery.Settings {
	set := recovery.Settings{}
	for _, t := range recovery.SettableTimers() {
		if t != failure.TimerProgress {
			set[t] = 0
		}
	}
	set[timer] = failure.InMillis(limit)
	return set
}

// expiry is what people and hooks are told when a timer has expired.
type expiry struct {
	failure string // kind and code
	words   string // {provider} and {limit} are placeholders
}

var expiries = map[string]expiry{
	"connect":     {"timeout MODEL_PROVIDER_TIMEOUT", notAnswering},
	"first_event": {"timeout MODEL_PROVIDER_TIMEOUT", notAnswering},
	"bytes":       {"timeout MODEL_PROVIDER_TIMEOUT", notAnswering},
	"idle":        {"timeout MODEL_PROVIDER_TIMEOUT", notAnswering},
	"step": {
		"step_timeout RUN_STEP_TIMEOUT",
		"No progress for {limit}. No action had finished. The task may be stuck. Retry, or ask for a simpler approach.",
	},
	"max_turn": {
		"max_turn_time RUN_MAX_TURN_TIME",
		"This turn reached its limit of {limit}. No action had finished. Continue, or ask for a simpler approach.",
	},
	"run": {"run_timeout RUN_TIMEOUT", "This run timed out after {limit}. No action had finished."},
}

const (
	notAnswering = "{provider} is not answering. No answer within {limit}. It may be slow or down. Your message is kept."
	stalled      = "{provider} is not answering. {provider} stopped sending for {limit} after 1 word. It is kept until the next attempt."
)

// silence is a model call that stops making progress, and the timer that ends it.
type silence struct {
	name     string
	turn     turn
	settings settings
	timer    string        // the one that expires
	phase    string        // how far the call had come
	limit    time.Duration // the timer's setting
	from     time.Duration // when it was last armed
}

var (
	noConnection = turn{dial: hangs}
	noHeaders    = says(faultlab.Hang())
	noBody       = turn{mute: true}
	onlyPings    = turn{mute: true, noise: ping}
	onlyDrops    = turn{mute: true, noise: drip}
	token        = says(faultlab.StallAfter("Hello "))
	tokenPings   = turn{step: faultlab.StallAfter("Hello "), noise: ping}
	tokenDrops   = turn{step: faultlab.StallAfter("Hello "), noise: drip}
)

// silences are all ways in which a model call stops making progress. One byte of an event that
// never ends counts as a keep-alive, like a ping, and not as progress.
var silences = []silence{
	{"no connection", noConnection, builtIn, "connect", "before_connect", 10 * time.Second, 0},
	{"no connection", noConnection, atHome, "connect", "before_connect", 10 * time.Second, 0},
	{"no connection", noConnection, stepAlone, "step", "before_first_event", 2 * time.Minute, 0},
	{"no connection", noConnection, shortTurn, "max_turn", "before_first_event", 2 * time.Minute, 0},
	{"no connection", noConnection, shortRun, "run", "before_first_event", 2 * time.Minute, 0},

	{"connection, no headers", noHeaders, builtIn, "first_event", "before_first_event", 30 * time.Second, 0},
	{"connection, no headers", noHeaders, atHome, "first_event", "before_first_event", 5 * time.Minute, 0},
	{"connection, no headers", noHeaders, stepAlone, "step", "before_first_event", 2 * time.Minute, 0},
	{"connection, no headers", noHeaders, turnAlone, "max_turn", "before_first_event", 30 * time.Minute, 0},
	{"connection, no headers", noHeaders, runAlone, "run", "before_first_event", 30 * time.Minute, 0},

	{"headers, no body", noBody, builtIn, "first_event", "before_first_event", 30 * time.Second, 0},
	{"headers, no body", noBody, atHome, "first_event", "before_first_event", 5 * time.Minute, 0},
	{"headers, no body", noBody, stepAlone, "step", "before_first_event", 2 * time.Minute, 0},
	{"headers, no body", noBody, turnAlone, "max_turn", "before_first_event", 30 * time.Minute, 0},
	{"headers, no body", noBody, runAlone, "run", "before_first_event", 30 * time.Minute, 0},

	{"pings for ever", onlyPings, builtIn, "first_event", "before_first_event", 30 * time.Second, 0},
	{"pings for ever", onlyPings, atHome, "first_event", "before_first_event", 5 * time.Minute, 0},
	{"pings for ever", onlyPings, stepAlone, "step", "before_first_event", 2 * time.Minute, 0},
	{"pings for ever", onlyPings, turnAlone, "max_turn", "before_first_event", 30 * time.Minute, 0},
	{"pings for ever", onlyPings, runAlone, "run", "before_first_event", 30 * time.Minute, 0},

	{"one token, then silence", token, builtIn, "bytes", "mid_stream", time.Minute, latency},
	{"one token, then silence", token, atHome, "bytes", "mid_stream", 5 * time.Minute, latency},
	{"one token, then silence", token, stepAlone, "step", "mid_stream", 2 * time.Minute, 0},
	{"one token, then silence", token, turnAlone, "max_turn", "mid_stream", 30 * time.Minute, 0},
	{"one token, then silence", token, runAlone, "run", "mid_stream", 30 * time.Minute, 0},

	{"one token, then pings for ever", tokenPings, builtIn, "idle", "mid_stream", 2 * time.Minute, latency},
	{"one token, then pings for ever", tokenPings, longTurn, "max_turn", "mid_stream", 6 * time.Hour, 0},
	{"one token, then pings for ever", tokenPings, stepAlone, "step", "mid_stream", 2 * time.Minute, 0},
	{"one token, then pings for ever", tokenPings, turnAlone, "max_turn", "mid_stream", 30 * time.Minute, 0},
	{"one token, then pings for ever", tokenPings, runAlone, "run", "mid_stream", 30 * time.Minute, 0},

	{"one byte every 10 s", onlyDrops, builtIn, "first_event", "before_first_event", 30 * time.Second, 0},
	{"one byte every 10 s", onlyDrops, atHome, "first_event", "before_first_event", 5 * time.Minute, 0},
	{"one byte every 10 s", onlyDrops, stepAlone, "step", "before_first_event", 2 * time.Minute, 0},
	{"one byte every 10 s", onlyDrops, turnAlone, "max_turn", "before_first_event", 30 * time.Minute, 0},
	{"one byte every 10 s", onlyDrops, runAlone, "run", "before_first_event", 30 * time.Minute, 0},

	{"one token, then one byte every 10 s", tokenDrops, builtIn, "idle", "mid_stream", 2 * time.Minute, latency},
	{"one token, then one byte every 10 s", tokenDrops, longTurn, "max_turn", "mid_stream", 6 * time.Hour, 0},
	{"one token, then one byte every 10 s", tokenDrops, stepAlone, "step", "mid_stream", 2 * time.Minute, 0},
	{"one token, then one byte every 10 s", tokenDrops, turnAlone, "max_turn", "mid_stream", 30 * time.Minute, 0},
	{"one token, then one byte every 10 s", tokenDrops, runAlone, "run", "mid_stream", 30 * time.Minute, 0},
}

// The auto-recover plugin's pauses before the first, second and third retry.
const (
	pauseOne = time.Second
	pauseAll = time.Second + 2*time.Second + 4*time.Second
)

// The ways in which each silence is played.
const (
	asks      = "off"                  // nothing is done; the decision is offered
	goesOn    = "on, and it passes"    // the second request is answered
	givesUp   = "on, and it stays so"  // until a limit ends it
	oneCall   = "on; its time is over" // of max_turn and run: asked once, and offered
	noOpinion = "on; nobody advises"   // no hook has an opinion, or none is asked because nothing has failed
)

// stories are the rows of a silence.
func (s silence) stories() []story {
	terminal := s.timer == "max_turn" || s.timer == "run"
	if terminal {
		return []story{s.story(asks, s.turn), s.story(oneCall, s.turn)}
	}
	return []story{s.story(asks, s.turn), s.story(givesUp, s.turn), s.story(goesOn, s.turn, says(faultlab.Answer("Fine.")))}
}

func (s silence) story(mode string, turns ...turn) story {
	return story{
		name: s.name, timers: s.settings.name, mode: mode, audience: s.settings.whose,
		scenario: scenario{turns: turns, timers: s.settings.set, auto: mode != asks},
		want:     s.want(mode),
	}
}

func (s silence) want(mode string) outcome {
	x, each := expiries[s.timer], s.from+s.limit
	if x.words == notAnswering && s.phase == "mid_stream" {
		x.words = stalled
	}
	limit := words.Duration(s.limit)
	o := outcome{
		Failure: x.failure, Timer: s.timer + ", " + s.phase, Words: strings.ReplaceAll(x.words, "{limit}", limit),
		Hook: s.timer + " after " + words.Duration(each) + "; silences: " + s.counted(1), Requests: 1, After: each,
		End: "suggests retry; stopped: cancelled",
	}
	switch mode {
	case goesOn:
		o.Requests, o.After, o.End = 2, each+pauseOne+latency, "completed"
	case givesUp:
		o.Requests, o.After = 4, 4*each+pauseAll
		o.Hook = strings.TrimSuffix(o.Hook, s.counted(1)) + s.counted(4)
		o.End = "suggests retry (max_retries); stopped: cancelled"
	}
	if s.timer == "max_turn" || s.timer == "run" {
		o.End = "suggests retry (" + strings.Fields(x.failure)[0] + "); stopped: cancelled"
	}
	return o
}

// counted is how many consecutive silences the hook is told of: only the model's.
func (s silence) counted(calls int) string {
	list := strings.Split("1, 2, 3, 4", ", ")[:calls]
	switch s.timer {
	case "first_event", "bytes", "idle":
	default:
		for i := range list {
			list[i] = "0"
		}
	}
	return strings.Join(list, ", ")
}

// story is one row of the report.
type story struct {
	name     string
	timers   string
	mode     string
	audience audience
	scenario scenario
	want     outcome
	shown    []entry // the entries that it was played by
}

// allStories is the whole report.
func allStories() []story {
	var list []story
	for _, s := range silences {
		list = append(list, s.stories()...)
	}
	return append(append(append(list, toolStories()...), hookStories()...), waitStories()...)
}

// searches is a model that calls web_search, and then answers.
var searches = []turn{says(faultlab.ToolCall("web_search", "{}")), says(faultlab.Answer("Fine."))}

// stuckTool is a tool that never returns by itself. It returns when its context ends or, if it is
// deaf, long after everything is over.
func stuckTool(name string, ignoresContext bool) runner.Tool {
	return runner.Tool{Name: name, Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
		if !ignoresContext {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		time.Sleep(stuckFor)
		return "", nil
	}}
}

// What stopped a tool, or stopped the run because of the tool, is told with the tool's name.
const (
	stuck  = "No progress for 2 min. Last action: web_search. The task may be stuck. Retry, or ask for a simpler approach."
	over   = "This turn reached its limit of 30 min. Last action: web_search. The work so far is kept. Continue, or ask for a simpler approach."
	ranOut = "This run timed out after 30 min. Last action: web_search. The work so far is kept."
	unsure = "web_search may or may not have worked. It did not end within 10 min and was stopped. It may already have taken effect; check before running it again."
)

// grace is how long a stopped tool may take to return.
const grace = 1500 * time.Millisecond

// toolStories: the tool's own timer stops the call, and the model is told; the hook is asked only
// if the tool does not return. The run's timers stop the tool and fail the run.
func toolStories() []story {
	const (
		stepHook = "step after 2 min; last: web_search, 2 min; silences: 0"
		turnHook = "max_turn after 30 min; last: web_search, 29 min 59 s; silences: 0"
		runHook  = "run after 30 min; last: web_search, 29 min 59 s; silences: 0"
		toolHook = "tool after 10 min 2 s; last: web_search, 10 min 2 s; silences: 0"
	)
	const cancellable, uncancellable = "a tool that never returns, but can be cancelled", "a tool that never returns, and ignores cancellation"
	usual := settings{name: "built in"}
	stop := func(at time.Duration, end, failure, timer, words, hook string) outcome {
		return outcome{Failure: failure, Timer: timer, Words: words, Hook: hook, End: end, Requests: 1, After: at}
	}
	answered := func(o outcome, at time.Duration) outcome {
		o.End, o.Requests, o.After = "completed", 2, at+latency
		return o
	}
	stepOver := stop(latency+2*time.Minute, "suggests retry; stopped: cancelled", "step_timeout RUN_STEP_TIMEOUT", "step, tool", stuck, stepHook)
	turnOver := stop(30*time.Minute, "suggests retry (max_turn_time); stopped: cancelled", "max_turn_time RUN_MAX_TURN_TIME", "max_turn, tool", over, turnHook)
	runOver := stop(30*time.Minute, "suggests retry (run_timeout); stopped: cancelled", "run_timeout RUN_TIMEOUT", "run, tool", ranOut, runHook)
	unknown := stop(latency+10*time.Minute+grace, "suggests retry; stopped: cancelled", "tool_failure TOOL_FAILED", "tool, tool", unsure, toolHook)
	later := func(o outcome) outcome {
		o.After += grace
		return o
	}
	rows := []struct {
		name     string
		stuck    bool
		settings settings
		mode     string
		want     outcome
	}{
		{cancellable, false, usual, asks, answered(outcome{Hook: "not asked"}, latency+10*time.Minute)},
		{cancellable, false, usual, noOpinion, answered(outcome{Hook: "not asked"}, latency+10*time.Minute)},
		{cancellable, false, stepAlone, asks, stepOver},
		{cancellable, false, stepAlone, goesOn, answered(stepOver, latency+2*time.Minute+pauseOne)},
		{cancellable, false, turnAlone, asks, turnOver},
		{cancellable, false, turnAlone, oneCall, turnOver},
		{cancellable, false, runAlone, asks, runOver},
		{cancellable, false, runAlone, oneCall, runOver},

		{uncancellable, true, usual, asks, unknown},
		{uncancellable, true, usual, goesOn, answered(unknown, latency+10*time.Minute+grace)},
		{uncancellable, true, stepAlone, asks, later(stepOver)},
		{uncancellable, true, stepAlone, goesOn, answered(stepOver, latency+2*time.Minute+grace)},
		{uncancellable, true, turnAlone, asks, later(turnOver)},
		{uncancellable, true, turnAlone, oneCall, later(turnOver)},
		{uncancellable, true, runAlone, asks, later(runOver)},
		{uncancellable, true, runAlone, oneCall, later(runOver)},
	}
	var list []story
	for _, row := range rows {
		list = append(list, story{name: row.name, timers: row.settings.name, mode: row.mode, audience: row.settings.whose, want: row.want, scenario: scenario{
			turns: searches, tools: []runner.Tool{stuckTool("web_search", row.stuck)}, timers: row.settings.set, auto: row.mode != asks,
		}})
	}
	return list
}

// hookDeadline is how long a hook may take (spec §4).
const hookDeadline = 2 * time.Second

// hookStories: a hook that does not answer in time has no opinion, so the safe actions are offered.
// Its time counts towards the turn, but not as anybody's silence.
func hookStories() []story {
	heard := silence{timer: "first_event", phase: "before_first_event", limit: 30 * time.Second}.want(asks)
	heard.End, heard.After = "suggests retry; stopped: cancelled", heard.After+hookDeadline
	late := silence{timer: "step", phase: "before_first_event", limit: 2 * time.Minute}.want(asks)
	late.End, late.After = "suggests retry; stopped: cancelled", late.After+hookDeadline
	turnOver := silence{timer: "max_turn", phase: "before_first_event", limit: 30 * time.Minute}.want(asks)
	turnOver.End, turnOver.After = "suggests retry; stopped: cancelled", turnOver.After+hookDeadline
	runOver := silence{timer: "run", phase: "before_first_event", limit: 30 * time.Minute}.want(asks)
	runOver.End, runOver.After = "suggests retry; stopped: cancelled", runOver.After+hookDeadline
	var list []story
	for _, stuck := range []bool{false, true} {
		name := map[bool]string{false: "a hook that never returns, but can be cancelled", true: "a hook that never returns, and ignores cancellation"}[stuck]
		for _, mode := range []string{asks, noOpinion} {
			for _, row := range []struct {
				settings settings
				want     outcome
			}{{builtIn, heard}, {stepAlone, late}, {turnAlone, turnOver}, {runAlone, runOver}} {
				list = append(list, story{name: name, timers: row.settings.name, audience: row.settings.whose, mode: mode, want: row.want, scenario: scenario{
					turns: []turn{noHeaders}, auto: mode != asks, timers: row.settings.set, hook: silentHook(stuck),
				}})
			}
		}
	}
	return list
}

func silentHook(ignoresContext bool) hooks.Func {
	return func(ctx context.Context, _ hooks.RunError) (recovery.Vote, error) {
		if !ignoresContext {
			<-ctx.Done()
			return recovery.Vote{}, ctx.Err()
		}
		time.Sleep(stuckFor)
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	}
}

// waitStories: when a wait is over the run continues by itself: in this process or, if the wait is
// longer than a minute, after being parked. A wait that a timer of the run would interrupt is only
// offered.
func waitStories() []story {
	usual := settings{name: "built in"}
	tightTurn := settings{name: "max_turn 20 s", set: recovery.Settings{failure.TimerMaxTurn: 20_000}}
	tightRun := settings{name: "run 20 s", set: recovery.Settings{failure.TimerRun: 20_000}}
	limited := func(in string) outcome {
		return outcome{
			Failure: "rate_limit MODEL_PROVIDER_RATE_LIMITED", Timer: "before_first_event",
			Words: "{provider} asked to slow down. This key has sent too many requests. {provider} accepts more in " + in + ".",
			Hook:  "rate_limit after 1 s; silences: 0", Requests: 1, After: latency,
		}
	}
	with := func(o outcome, end string, requests int, after time.Duration) outcome {
		o.End, o.Requests, o.After = end, requests, after
		return o
	}
	offered := "suggests retry; stopped: cancelled"
	short, long := limited("30 s"), limited("2 h")
	unreachable := outcome{
		Failure: "unreachable MODEL_PROVIDER_UNREACHABLE", Timer: "before_connect", Hook: "unreachable after 1 ms; silences: 0",
		Words: "Could not reach {provider}. {Check it.}",
	}
	rows := []struct {
		name     string
		settings settings
		mode     string
		first    turn
		want     outcome
	}{
		{"a wait of 30 s, in process", usual, asks, limitedFor(30 * time.Second), with(short, offered, 1, latency)},
		{"a wait of 30 s, in process", usual, goesOn, limitedFor(30 * time.Second), with(short, "completed", 2, latency+30*time.Second+latency)},
		{"a wait of 30 s, in process", stepAlone, goesOn, limitedFor(30 * time.Second), with(short, "completed", 2, latency+30*time.Second+latency)},
		{"a wait of 30 s, in process", tightTurn, givesUp, limitedFor(30 * time.Second), with(short, "suggests retry (max_turn); stopped: cancelled", 1, latency)},
		{"a wait of 30 s, in process", tightRun, givesUp, limitedFor(30 * time.Second), with(short, "suggests retry (max_turn); stopped: cancelled", 1, latency)},
		{"a wait of 2 h, parked", usual, asks, limitedFor(2 * time.Hour), with(long, offered, 1, latency)},
		{"a wait of 2 h, parked", usual, goesOn, limitedFor(2 * time.Hour), with(long, "parked; resumed after 2 h 2 s: completed", 2, latency)},
		{"a wait of 2 h, parked", turnAlone, goesOn, limitedFor(2 * time.Hour), with(long, "parked; resumed after 2 h 2 s: completed", 2, latency)},
		{"a wait of 2 h, parked", stepAlone, goesOn, limitedFor(2 * time.Hour), with(long, "parked; resumed after 2 h 2 s: completed", 2, latency)},
		{"a wait of 2 h, parked", runAlone, givesUp, limitedFor(2 * time.Hour), with(long, "suggests retry (run); stopped: cancelled", 1, latency)},
		{"no network for 10 min", usual, asks, turn{dial: refused}, with(unreachable, offered, 1, 0)},
		{"no network for 10 min", usual, goesOn, turn{dial: refused}, with(unreachable, "completed", 2, 10*time.Minute+latency)},
	}
	var list []story
	for _, row := range rows {
		list = append(list, story{name: row.name, timers: row.settings.name, mode: row.mode, audience: row.settings.whose, want: row.want, scenario: scenario{
			turns: []turn{row.first, says(faultlab.Answer("Fine."))}, timers: row.settings.set, auto: row.mode != asks,
			online: offlineFor(10 * time.Minute),
		}})
	}
	return list
}

func limitedFor(d time.Duration) turn { return says(faultlab.RateLimited(d)) }

// offlineFor is a machine that has no connection for a while after noon.
type offlineFor time.Duration

func (d offlineFor) Offline(context.Context, []string) bool {
	return time.Since(noon) < time.Duration(d)
}
