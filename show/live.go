package show

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/tui"
)

// live shows a run while it goes on.
type live struct {
	*Screen
	narrate  bool // also say who decides
	answered bool // the whole answer was shown
	failed   bool // a failure was shown

	mu       sync.Mutex
	run      *recovery.Run
	attempt  uint64 // whose text is being shown
	shown    int    // bytes of it so far
	printer  *tui.Printer
	again    bool // the attempt repeats a call whose answer was cut
	failures int  // of the current model call

	announced bool   // a wait has already said what comes next
	notice    string // shown last; nothing else has happened since
}

// newLive shows what happens after the known state.
func newLive(s *Screen, known *recovery.Run, narrate bool) *live {
	l := &live{Screen: s, narrate: narrate, run: known, printer: tui.NewPrinter(s.width, bool(s.Ink))}
	if known.Open != nil {
		l.failures = 1
	}
	return l
}

// follow shows what happens until the run settles.
func (l *live) follow(run *runner.Run) error {
	stop := l.tick()
	defer stop()
	for item, err := range run.EventsAfter(l.run.Seq) {
		if err != nil {
			return fmt.Errorf("run %s cannot be followed: %w", run.ID(), err)
		}
		l.item(item)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.print(l.printer.End())
	return nil
}

// print prints lines of the answer.
func (l *live) print(rows []string) {
	for _, row := range rows {
		l.Screen.row(row)
	}
}

// tick keeps the live line up to date.
func (l *live) tick() (stop func()) {
	if !l.LiveErr {
		return func() {}
	}
	ticker, done := time.NewTicker(200*time.Millisecond), make(chan struct{})
	var over sync.WaitGroup
	over.Go(func() {
		for {
			select {
			case now := <-ticker.C:
				l.mu.Lock()
				text := l.state(now)
				l.mu.Unlock()
				l.Mark(text)
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		over.Wait()
		l.End()
	}
}

func (l *live) item(item timeline.Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := item.Delta; d != nil {
		if !d.Thinking {
			l.text(d.Attempt, d.Offset, d.Text)
		}
		return
	}
	if n := item.Notice; n != nil {
		if n.Text != l.notice {
			l.Line(l.Ink.Amber("! " + terminal.OneLine(n.Text)))
		}
		l.notice = n.Text
		return
	}
	l.notice = ""
	e := *item.Event
	e.Text = recovery.LocalText(l.run, e, time.Now())
	before := l.run.Model
	if err := l.run.Apply(e); err != nil {
		l.Line(terminal.OneLine(err.Error()))
		return
	}
	l.event(e, before)
}

// text shows what is new of an attempt's text.
func (l *live) text(attempt uint64, offset int, text string) {
	if attempt != l.attempt || offset > l.shown || offset+len(text) <= l.shown {
		return // withdrawn, after a gap, or known
	}
	text = text[l.shown-offset:]
	if l.failures > 0 {
		if line := l.run.RecoveredLine(); line != "" {
			l.Line(l.Ink.Green("✓ " + terminal.OneLine(line)))
		}
		l.failures = 0
	}
	if l.again && l.shown == 0 && l.LiveOut {
		l.Line(l.Ink.Dim("  (the answer above was cut off: it is discarded, and starts over)"))
	}
	l.shown += len(text)
	if l.LiveOut {
		l.print(l.printer.Add(text))
	}
}

func (l *live) event(e recovery.Event, before string) {
	switch b := e.Body.(type) {
	case recovery.Began:
		l.began(e, b, before)
	case recovery.Answered:
		l.text(b.Attempt, 0, b.Message.Text())
		l.print(l.printer.End())
		l.answered, l.again = l.LiveOut, false
		if l.failures > 0 && e.Text != "" { // there was no text, only a tool call
			l.Line(l.Ink.Green("✓ " + terminal.OneLine(e.Text)))
		}
		l.failures = 0
	case recovery.Failed:
		if !l.again {
			l.text(b.Attempt, 0, b.Text)
		}
		l.print(l.printer.End())
		if l.again { // the cut answer is mentioned at the end, unless the second one replaces it
			l.answered, l.again = l.LiveOut && l.shown == 0, false
			l.Line(l.Ink.Amber("! " + terminal.OneLine(e.Text)))
			return
		}
		l.failures++
		l.failed = true
		l.Line(l.Ink.Red("✗ " + terminal.OneLine(cmp.Or(e.Text, b.Failure.LocalLine(time.Now())))))
	case recovery.Voted:
		l.voted(b.Vote)
	case recovery.Decided:
		if b.Occasion.Hook() == recovery.HookToolError && e.Text != "" {
			l.Line(l.Ink.Amber("· " + terminal.OneLine(e.Text)))
			return
		}
		l.decided(b.Occasion, b.Decision)
	case recovery.Waiting:
		l.announced = true
		l.Line(l.Ink.Amber("· " + terminal.OneLine(cmp.Or(e.Text, "Waiting until "+words.Clock(b.Until, time.Now())))))
	case recovery.ToolBegan:
		l.Line(l.Ink.Dim("· " + terminal.OneLine(cmp.Or(e.Text, "Running "+b.Name+"…"))))
	case recovery.ToolReturned:
		l.returned(b)
	case recovery.Noted:
		if !l.LiveErr || b.Topic != recovery.TopicProgress { // the live line says it, second by second
			l.Line(l.Ink.Dim("· " + terminal.OneLine(e.Text)))
		}
	case recovery.CancelRequested:
		if !l.again {
			l.text(b.Attempt, 0, b.Text)
		}
	case recovery.Suggested, recovery.Ended, recovery.Claimed, recovery.Started:
		// The outcome says it.
	default:
		if e.Text != "" {
			l.Line(l.Ink.Dim("· " + terminal.OneLine(e.Text)))
		}
	}
}

func (l *live) began(e recovery.Event, b recovery.Began, before string) {
	l.print(l.printer.End())
	if b.Withdraws != 0 && b.Withdraws == l.attempt && l.shown > 0 {
		if l.LiveOut {
			l.Line(l.Ink.Dim("  (the text above is discarded: the answer starts over)"))
		} else {
			l.Line(l.Ink.Dim("  (its partial text is discarded: the answer starts over)"))
		}
	}
	if b.Continues == 0 || b.Continues != l.attempt {
		l.shown = 0
	}
	l.attempt, l.answered, l.again = b.Attempt, false, b.Again
	if b.Again {
		l.Line(l.Ink.Dim("· " + terminal.OneLine(e.Text)))
	}
	defer func() { l.announced = false }()
	if b.Model != before && !l.announced {
		l.Line(l.Ink.Amber("· " + terminal.OneLine(cmp.Or(e.Text, "Switching to "+b.Model+"…"))))
	}
}

func (l *live) voted(v recovery.Vote) {
	if v.Shadow {
		if l.narrate {
			l.Line(l.Ink.Dim("→ " + tellShadow(v)))
		}
		return
	}
	if v.Error != "" {
		l.Line(l.Ink.Amber(fmt.Sprintf("! Recovery plugin “%s” did not answer: %s", terminal.OneLine(v.Plugin), complaint(v.Error, 200))))
		return
	}
	if l.narrate {
		l.Line(l.Ink.Cyan("→ " + tellVote(v)))
	}
}

// tellVote says who voted what: "plugin auto-recover 0.1 (process 4711, 3 ms) says: …".
func tellVote(v recovery.Vote) string {
	who := "plugin " + v.Plugin
	if v.Version != "" {
		who += " " + v.Version
	}
	where := ""
	if v.PID > 0 { // not a remote service
		where = fmt.Sprintf("process %d, ", v.PID)
	}
	text := fmt.Sprintf("%s (%s%d ms) says: %s", who, where, v.Latency, TellAction(v.Action, v.NewModel, v.Delay))
	if forbids := v.Restrict.InWords(); forbids != "" {
		text += "; forbids " + forbids
	}
	if v.Reason != "" {
		text += " (" + v.Reason + ")"
	}
	return terminal.OneLine(text)
}

// tellDecision says who decided, or whose advice a person is offered: "plugin auto-recover
// 0.1 decides: retry in 1 s (it may pass by itself)".
func (l *live) tellDecision(d recovery.Decision) string {
	who := strings.TrimSpace("plugin " + d.By.Plugin + " " + d.By.Version)
	does := "decides"
	if !l.run.Policy.AutoRecover || d.BlockedBy != "" {
		does = "suggests"
	}
	text := who + " " + does + ": " + TellAction(d.Action, d.NewModel, d.Delay)
	if reason := cmp.Or(d.By.Reason, d.Reason); reason != "" {
		text += " (" + reason + ")"
	}
	return terminal.OneLine(text)
}

// tellShadow is tellVote for a vote that does not count.
func tellShadow(v recovery.Vote) string {
	if v.Error != "" {
		return fmt.Sprintf("Shadow %s gave no answer (%d ms): %s", terminal.OneLine(v.Plugin), v.Latency, complaint(v.Error, 300))
	}
	return "Shadow " + strings.TrimPrefix(tellVote(v), "plugin ") + "; it does not count"
}

// TellAction is an action in words: "retry in 2 s", "switch to openai/gpt-5.2".
func TellAction(a recovery.Action, model string, delay failure.Millis) string {
	text := "no opinion"
	switch a {
	case recovery.ActionNone:
		return text
	case recovery.ActionRetry:
		text = "retry"
	case recovery.ActionSwitchModel:
		text = "switch to " + model
	case recovery.ActionRoute:
		text = "ask " + model + " instead"
	case recovery.ActionTell:
		text = "tell the model something else"
	case recovery.ActionAsk:
		text = "ask a person"
	default:
		text = string(a)
	}
	if delay > 0 {
		text += " in " + words.Duration(delay.Duration())
	}
	return text
}

func (l *live) decided(about recovery.Occasion, d recovery.Decision) {
	if d.By != nil && !l.narrate && about.Hook() != recovery.HookBeforeCall { // otherwise its vote was shown, or the next event says it
		l.Line(l.Ink.Dim("→ " + l.tellDecision(d)))
	}
	if d.BlockedBy != "" {
		l.Line(l.Ink.Amber("· Mulligan does not do that automatically: " + terminal.OneLine(recovery.LimitInWords(d.BlockedBy)) + "."))
	}
	for _, ignored := range d.Ignored {
		l.Line(l.Ink.Dim("· Ignored: " + terminal.OneLine(ignored)))
	}
}

func (l *live) returned(b recovery.ToolReturned) {
	switch {
	case b.Outcome != recovery.OutcomeOK:
		l.Line(l.Ink.Amber("! " + terminal.OneLine(b.Result.Name+": "+words.Clip(b.Result.Text, 200))))
	case l.narrate:
		l.Line(l.Ink.Dim("· " + terminal.OneLine(b.Result.Name+" returned: "+words.Clip(b.Result.Text, 200))))
	}
}

// state is the live line: what the run is doing now.
func (l *live) state(now time.Time) string {
	if l.printer.Rest() != "" {
		return l.writing()
	}
	if l.run.Seq == 0 {
		return ""
	}
	heard := recovery.HeardNothing
	if l.shown > 0 {
		heard = recovery.HeardText
	}
	s := l.run.Situation()
	at := s.At(now, heard)
	switch {
	case at.State == recovery.StateOnline:
		return "  waiting for the network… (Ctrl-C stops)"
	case s.Held == nil || at.State == recovery.StateThinking:
		return terminal.OneLine(at.Said(at.Line, now))
	case at.Until.After(now): // the reason was shown
		return at.Said("  in {countdown}… (Ctrl-C stops)", now)
	}
	return ""
}

// writing is the live line while a block of the answer arrives: the block's last
// words.
func (l *live) writing() string {
	rest := []rune(terminal.OneLine(lastOf(l.printer.Rest(), 4*l.width)))
	if most := l.width - 4; len(rest) > most {
		rest = append([]rune("…"), rest[len(rest)-most:]...)
	}
	return string(rest)
}

// lastOf is the end of a text, at most that many bytes.
func lastOf(text string, most int) string {
	return strings.ToValidUTF8(text[max(0, len(text)-most):], "")
}
