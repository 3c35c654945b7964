package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/tui"
)

// live shows a run while it goes on.
type live struct {
	*screen
	narrate  bool // tell who decides, too
	answered bool // the whole answer was shown
	failed   bool // a failure was shown

	mu       sync.Mutex
	run      *recovery.Run
	attempt  uint64 // whose text is shown
	shown    int    // bytes of it
	printer  *tui.Printer
	again    bool // the attempt asks once more for an answer that was cut
	failures int  // of the model call at hand

	announced bool   // a wait said what comes next
	notice    string // shown last, and nothing else happened since
}

// newLive shows what happens after what is known already.
func newLive(s *screen, known *recovery.Run, narrate bool) *live {
	l := &live{screen: s, narrate: narrate, run: known, printer: tui.NewPrinter(s.width, bool(s.ink))}
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
		l.screen.print(row)
	}
}

// tick keeps the live line up to date.
func (l *live) tick() (stop func()) {
	if !l.liveErr {
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
				l.mark(text)
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		over.Wait()
		l.end()
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
			l.line(l.ink.amber("! " + oneLine(n.Text)))
		}
		l.notice = n.Text
		return
	}
	l.notice = ""
	e := *item.Event
	e.Text = recovery.LocalText(l.run, e, time.Now())
	before := l.run.Model
	if err := l.run.Apply(e); err != nil {
		l.line(oneLine(err.Error()))
		return
	}
	l.event(e, before)
}

// text shows what is new of an attempt's text.
func (l *live) text(attempt uint64, offset int, text string) {
	if attempt != l.attempt || offset > l.shown || offset+len(text) <= l.shown {
		return // withdrawn, a gap that the next checkpoint fills, or known
	}
	text = text[l.shown-offset:]
	if l.shown == 0 && l.failures > 0 {
		if line := l.run.RecoveredLine(); line != "" {
			l.line(l.ink.green("✓ " + oneLine(line)))
		}
		l.failures = 0
	}
	if l.again && l.shown == 0 && l.liveOut {
		l.line(l.ink.dim("  (the answer above was cut: it is withdrawn, and begins anew)"))
	}
	l.shown += len(text)
	if l.liveOut {
		l.print(l.printer.Add(text))
	}
}

func (l *live) event(e recovery.Event, before string) {
	switch b := e.Body.(type) {
	case recovery.Began:
		l.began(e, b, before)
	case recovery.Checkpointed:
		l.text(b.Attempt, b.Offset, b.Text)
	case recovery.Answered:
		l.text(b.Attempt, 0, b.Message.Text())
		l.print(l.printer.End())
		l.answered, l.again = l.liveOut, false
		if l.failures > 0 && e.Text != "" { // nothing was said, only a tool was asked for
			l.line(l.ink.green("✓ " + oneLine(e.Text)))
		}
		l.failures = 0
	case recovery.Failed:
		l.print(l.printer.End())
		if l.again { // the answer that was cut is told at the end, where it is not the last thing that was
			l.answered, l.again = l.liveOut && l.shown == 0, false
			l.line(l.ink.amber("! " + oneLine(e.Text)))
			return
		}
		l.failures++
		l.failed = true
		l.line(l.ink.red("✗ " + oneLine(orElse(e.Text, b.Failure.LocalLine(time.Now())))))
	case recovery.Voted:
		l.voted(b.Vote)
	case recovery.Decided:
		l.decided(b.Decision)
	case recovery.Waiting:
		l.announced = true
		l.line(l.ink.amber("· " + oneLine(orElse(e.Text, "Waiting until "+words.Clock(b.Until, time.Now())))))
	case recovery.ToolBegan:
		l.line(l.ink.dim("· " + oneLine(orElse(e.Text, "Running "+b.Name+"…"))))
	case recovery.ToolReturned:
		l.returned(b)
	case recovery.Noted:
		if !l.liveErr || b.Topic != recovery.TopicProgress { // the live line says it, second by second
			l.line(l.ink.dim("· " + oneLine(e.Text)))
		}
	case recovery.Suggested, recovery.Ended, recovery.CancelRequested, recovery.Claimed, recovery.Started:
		// The outcome says it.
	default:
		if e.Text != "" {
			l.line(l.ink.dim("· " + oneLine(e.Text)))
		}
	}
}

func (l *live) began(e recovery.Event, b recovery.Began, before string) {
	l.print(l.printer.End())
	if b.Withdraws != 0 && b.Withdraws == l.attempt && l.shown > 0 {
		if l.liveOut {
			l.line(l.ink.dim("  (the text above is withdrawn: the answer begins anew)"))
		} else {
			l.line(l.ink.dim("  (its partial text is withdrawn: the answer begins anew)"))
		}
	}
	l.attempt, l.shown, l.answered, l.again = b.Attempt, 0, false, b.Again
	if b.Again {
		l.line(l.ink.dim("· " + oneLine(e.Text)))
	}
	defer func() { l.announced = false }()
	if b.Model != before && !l.announced {
		l.line(l.ink.amber("· " + oneLine(orElse(e.Text, "Switching to "+b.Model+"…"))))
	}
}

func (l *live) voted(v recovery.Vote) {
	if v.Shadow {
		if l.narrate {
			l.line(l.ink.dim("→ " + tellShadow(v)))
		}
		return
	}
	if v.Error != "" {
		l.line(l.ink.amber(fmt.Sprintf("! Recovery plugin “%s” did not answer: %s", oneLine(v.Plugin), oneLine(words.Clip(v.Error, 200)))))
		return
	}
	if l.narrate {
		l.line(l.ink.cyan("→ " + tellVote(v)))
	}
}

// tellVote says who decided what: "plugin auto-recover 0.1 (process 4711, 3 ms) says: …".
func tellVote(v recovery.Vote) string {
	who := "plugin " + v.Plugin
	if v.Version != "" {
		who += " " + v.Version
	}
	where := ""
	if v.PID > 0 { // it is no service elsewhere
		where = fmt.Sprintf("process %d, ", v.PID)
	}
	text := fmt.Sprintf("%s (%s%d ms) says: %s", who, where, v.Latency, tellAction(v.Action, v.NewModel, v.Delay))
	if v.Reason != "" {
		text += " (" + v.Reason + ")"
	}
	return oneLine(text)
}

// tellDecision says who decided, or whose advice a person is offered: "plugin auto-recover
// 0.1 decides: retry in 1 s (it may pass by itself)".
func (l *live) tellDecision(d recovery.Decision) string {
	who := strings.TrimSpace("plugin " + d.By.Plugin + " " + d.By.Version)
	does := "decides"
	if !l.run.Policy.AutoRecover || d.BlockedBy != "" {
		does = "suggests"
	}
	text := who + " " + does + ": " + tellAction(d.Action, d.NewModel, d.Delay)
	if reason := orElse(d.By.Reason, d.Reason); reason != "" {
		text += " (" + reason + ")"
	}
	return oneLine(text)
}

// tellShadow is tellVote for one that does not count.
func tellShadow(v recovery.Vote) string {
	if v.Error != "" {
		return fmt.Sprintf("Shadow %s gave no answer (%d ms): %s", oneLine(v.Plugin), v.Latency, excerpt(v.Error))
	}
	return "Shadow " + strings.TrimPrefix(tellVote(v), "plugin ") + "; it does not count"
}

func tellAction(a recovery.Action, model string, delay failure.Millis) string {
	text := "no opinion"
	switch a {
	case recovery.ActionNone:
		return text
	case recovery.ActionRetry:
		text = "retry"
	case recovery.ActionSwitchModel:
		text = "switch to " + model
	default:
		text = string(a)
	}
	if delay > 0 {
		text += " in " + words.Spell(delay.Duration())
	}
	return text
}

func (l *live) decided(d recovery.Decision) {
	if d.By != nil && !l.narrate { // else its vote was told
		l.line(l.ink.dim("→ " + l.tellDecision(d)))
	}
	if d.BlockedBy != "" {
		l.line(l.ink.amber("· Mulligan does not do that by itself: " + oneLine(recovery.LimitInWords(d.BlockedBy)) + "."))
	}
	for _, ignored := range d.Ignored {
		l.line(l.ink.dim("· Ignored: " + oneLine(ignored)))
	}
}

func (l *live) returned(b recovery.ToolReturned) {
	switch {
	case b.Outcome != recovery.OutcomeOK:
		l.line(l.ink.amber("! " + oneLine(b.Result.Name+": "+words.Clip(b.Result.Text, 200))))
	case l.narrate:
		l.line(l.ink.dim("· " + oneLine(b.Result.Name+" returned: "+words.Clip(b.Result.Text, 200))))
	}
}

// state is the live line: what the run is doing now.
func (l *live) state(now time.Time) string {
	r := l.run
	switch {
	case r.Wait != nil && r.Wait.For == recovery.WaitNetwork:
		return "  waiting for the network… (Ctrl-C stops)"
	case r.Wait != nil && !r.Wait.Until.IsZero():
		left := r.Wait.Until.Sub(now).Round(time.Second)
		if left <= 0 {
			return ""
		}
		return fmt.Sprintf("  in %s… (Ctrl-C stops)", words.Spell(left))
	case r.Attempt != nil && r.Attempt.InAir && l.shown == 0:
		waited := now.Sub(r.Attempt.BeganAt)
		switch {
		case waited < 3*time.Second:
			return "Thinking…"
		case waited < 12*time.Second:
			return "Thinking… " + words.Spell(waited)
		}
		return fmt.Sprintf("Still waiting for %s… %s", oneLine(r.Attempt.Model), words.Spell(waited))
	case l.printer.Rest() != "":
		return l.writing()
	}
	return l.tools(now)
}

// writing is the live line while a block of the answer comes: its end.
func (l *live) writing() string {
	rest := []rune(oneLine(lastOf(l.printer.Rest(), 4*l.width)))
	if most := l.width - 4; len(rest) > most {
		rest = append([]rune("…"), rest[len(rest)-most:]...)
	}
	return string(rest)
}

// lastOf is the end of a text, of at most that many bytes.
func lastOf(text string, most int) string {
	return strings.ToValidUTF8(text[max(0, len(text)-most):], "")
}

// tools is the live line while tools run: of the one that has been running longest.
func (l *live) tools(now time.Time) string {
	var oldest *recovery.ToolRun
	for _, t := range l.run.Pending {
		if t.InAir && (oldest == nil || t.BeganAt.Before(oldest.BeganAt)) {
			oldest = t
		}
	}
	if oldest == nil {
		return ""
	}
	name, took := oneLine(oldest.Call.Name), now.Sub(oldest.BeganAt)
	switch {
	case took < time.Second:
		return fmt.Sprintf("Running %s…", name)
	case took < 30*time.Second:
		return fmt.Sprintf("Running %s… %s", name, words.Spell(took))
	}
	return fmt.Sprintf("Still working: %s, %s", name, words.Spell(took))
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}
