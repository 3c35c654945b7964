package recovery

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// Line is what people are told about an event: one plain line of at most MaxText bytes, or "" if
// the event does not concern them. r is the run before the event is applied.
func Line(r *Run, b Body) string {
	line := ""
	switch b := b.(type) {
	case Failed:
		line = b.Failure.Line()
		if r.finished() && b.Cause != CauseHandedOver { // that is asked for again
			line = fmt.Sprintf("A longer answer could not be had: %s. The one that was cut is kept.", b.Failure.Short())
		}
	case Waiting:
		line = r.waitingLine(b)
	case Began:
		line = r.beganLine(b)
	case Suggested:
		return suggestedLine(b.Suggestion)
	case Accepted:
		line = r.acceptedLine(b)
	case Repaired:
		line = repairedLine(b)
	case Answered:
		line = r.answeredLine(b)
	case ToolReturned:
		line = r.toolLine(b)
	case Noted:
		line = notedLine(b)
	case Compacting:
		line = compactingLine(r.Model)
	case Compacted:
		line = r.compactedLine(b)
	case Slept:
		line = "This computer slept for " + words.Duration(b.For.Duration()) + "."
	case Due:
		if b.Timer == failure.TimerNetwork {
			line = onlineLine
		}
	case Paused:
		line = pausedLine(b)
	case Ended:
		line = r.endedLine(b)
	case Started:
		line = startedLine(b)
	case Decided:
		line = r.toolDecidedLine(b)
	case Claimed, Voted, ToolBegan, CancelRequested, Unknown: // these do not concern people
	}
	return words.Clip(words.Tidy(line), MaxText)
}

const (
	stoppedLine    = "Stopped. The text above is kept."
	expiredLine    = "This suggestion has expired. Send your message again."
	supersededLine = "The next message took this suggestion's place."
	offlineLine    = "This computer is offline. The run continues when the connection is back."
	onlineLine     = "The connection is back. The run continues."
)

// pausedLine says what the wait was about: "The run waited 5 min for its store: no space left on
// device. It goes on."
func pausedLine(p Paused) string {
	because := ""
	if p.Reason != "" {
		because = ": " + words.Clip(p.Reason, MaxText/2)
	}
	if p.For > 0 {
		return "The run waited " + words.Duration(p.For.Duration()) + " for its store" + because + ". It goes on."
	}
	return "The run waits for its store" + because + ". It goes on by itself."
}

// waitingLine announces a wait: "Anthropic is overloaded. Retrying in 4 s… (attempt 2/3)".
func (r *Run) waitingLine(w Waiting) string {
	if w.For == WaitNetwork {
		return offlineLine
	}
	if w.For == WaitTool {
		return r.awaitedLine() + "."
	}
	if r.isHeld() {
		return r.heldLine() + ". Going on in " + words.Duration(nonNegative(w.Until.Sub(r.Gate.HeldAt))) + "."
	}
	if r.Open == nil {
		return ""
	}
	if w.For == WaitCaller {
		return r.adviceLine(w)
	}
	f := &r.Open.Failure
	in := words.Duration(nonNegative(w.Until.Sub(r.Open.At)))
	switch {
	case w.Model != r.Model:
		return fmt.Sprintf("%s. Switching to %s in %s…", f.Short(), w.Model, in)
	case r.Open.handedOver():
		return fmt.Sprintf("%s. Going on in %s…", f.Short(), in)
	case w.For == WaitReset:
		provider := cmp.Or(words.ProviderName(f.ProviderEntry()), "the provider")
		return fmt.Sprintf("Waiting for %s until %s.", provider, w.Until.UTC().Format(words.UTCDay))
	}
	return fmt.Sprintf("%s. Retrying in %s…%s", f.Short(), in, attemptOf(w.Retry, w.Of))
}

// beganLine announces an attempt that no earlier line did: a switch, or a retry without a wait.
func (r *Run) beganLine(b Began) string {
	switch {
	case b.Again:
		return "The answer was cut at the output limit. Asking once more with a larger one…"
	case r.Gate != nil && r.Gate.Model != "" && b.Model != r.Model:
		return r.routedLine(b)
	case r.Open == nil:
		return ""
	case b.Continues != 0 && b.Model != r.Model:
		return fmt.Sprintf("%s. %s goes on from there…", r.Open.Failure.Short(), b.Model)
	case b.Continues != 0 && !b.Retry:
		return fmt.Sprintf("%s. Going on from there…", r.Open.Failure.Short())
	case b.Continues != 0:
		return fmt.Sprintf("%s. Going on from there…%s", r.Open.Failure.Short(), attemptOf(r.Call.Retries+1, r.Policy.MaxRetries))
	case b.Model != r.Model:
		return fmt.Sprintf("%s. Switching to %s…", r.Open.Failure.Short(), b.Model)
	case r.Open.handedOver() && r.Open.undelayed():
		return "The run goes on after it was handed over."
	case b.Retry && r.Open.undelayed():
		return fmt.Sprintf("%s. Retrying…%s", r.Open.Failure.Short(), attemptOf(r.Call.Retries+1, r.Policy.MaxRetries))
	}
	return ""
}

// attemptOf is " (attempt 2/3)", or nothing if a person asked for more attempts than the limit.
func attemptOf(n, of int) string {
	if n < 1 || n > of {
		return ""
	}
	return fmt.Sprintf(" (attempt %d/%d)", n, of)
}

// suggestedLine ends with the numbered actions; the message is shortened to make room for them.
func suggestedLine(s Suggestion) string {
	line := words.Tidy(s.Title + ". " + s.Message)
	var actions []string
	for i, b := range s.Actions {
		actions = append(actions, fmt.Sprintf("%d %s", i+1, b.Label))
	}
	if len(actions) == 0 {
		return words.Clip(line, MaxText)
	}
	tail := words.Clip(words.Tidy(" Actions: "+strings.Join(actions, ", ")), MaxText/2)
	return words.Clip(line, MaxText-len(tail)-1) + " " + tail
}

func (r *Run) acceptedLine(b Accepted) string {
	var buttons []Button
	switch {
	case r.Wait != nil && r.Wait.ID == b.Suggestion:
		buttons = r.Wait.Actions
	case r.Suggestion != nil && r.Suggestion.ID == b.Suggestion:
		buttons = r.Suggestion.Actions
	default:
		buttons, _ = r.answerable(b.Suggestion, r.Last)
	}
	button, ok := findButton(buttons, b.Action)
	if !ok {
		return ""
	}
	if b.Model != "" {
		button.Label = Label(button.Kind, b.Model)
	}
	return "You chose: " + button.Label
}

// RecoveredLine says what it took until a model answered: "Recovered after 2 retries · now using
// openai/gpt-5.2"; "" if people need not know.
func (r *Run) RecoveredLine() string {
	from, line := r.Call.PassedOver, "Recovered after a model switch"
	switch n := r.Call.Retries; {
	case n > 0:
		line = "Recovered after " + strings.Replace(words.Counted(int64(n), " retries"), "1 retrie", "1 retry", 1)
	case from != "" && len(r.Call.Tried) == 0:
		line = from + " is cooling down"
	}
	if from == "" && len(r.Call.Tried) > 0 {
		from = r.Call.Tried[0].Model
	}
	switch {
	case from != "" && r.Model != from:
		return line + " · now using " + r.Model
	case r.Call.Retries == 0:
		return ""
	}
	return line
}

// startedLine says that the conversation continues with a model other than the one that was named.
func startedLine(b Started) string {
	if b.Stays == nil {
		return ""
	}
	return fmt.Sprintf("%s failed; the conversation stays with %s until %s.", b.Stays.Left, b.Model, b.Stays.Until.UTC().Format(words.UTCDay))
}

// answeredLine says what came before the answer: "Recovered after a model switch · now using
// openai/two · 48,210 tokens of a prompt cache were lost".
func (r *Run) answeredLine(b Answered) string {
	line := r.RecoveredLine()
	if b.CacheLost == 0 {
		return line
	}
	return strings.TrimPrefix(line+" · "+words.Counted(b.CacheLost, " tokens")+" of a prompt cache were lost", " · ")
}

// repairedLine names the changes that a person would notice; other changes concern only the
// models.
func repairedLine(b Repaired) string {
	var said []string
	for _, fix := range b.Repairs {
		switch fix.Kind {
		case llm.RepairImage:
			said = append(said, fmt.Sprintf("%s takes no pictures; it is told that %s left out.", b.Model, plural(fix.Count, "one was", "%d were")))
		case llm.RepairTemplate:
			said = append(said, fmt.Sprintf("The answer of %s ended in %s, which %s taken off.", b.Model,
				plural(fix.Count, "a special token of its template", "%d special tokens of its template"), plural(fix.Count, "was", "were")))
		case llm.RepairReasoning:
			said = append(said, fmt.Sprintf("The provider of %s does not take back the model's earlier reasoning; it is asked without.", b.Model))
		case llm.RepairResultMissing:
			said = append(said, fmt.Sprintf("%s is told that %s no result.", b.Model, plural(fix.Count, "a tool call has", "%d tool calls have")))
		}
	}
	return strings.Join(said, " ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

func compactingLine(model string) string {
	return "Shortening the conversation to fit " + model + "…"
}

// compactedLine says that results were shortened, or that nothing could be. A summary is announced
// when it begins.
func (r *Run) compactedLine(b Compacted) string {
	switch {
	case b.Reason != "":
		return "The conversation could not be shortened: " + b.Reason + "."
	case b.Stage == compactResults:
		return compactingLine(r.Model)
	}
	return ""
}

// notedLine reports progress: "Still working: run_tests, 42 s".
func notedLine(b Noted) string {
	since := words.Duration(b.Elapsed.Duration())
	switch {
	case b.Topic == TopicProgress && b.CallID == "":
		f := failure.Failure{Model: b.What}
		return fmt.Sprintf("Still waiting for %s… %s", cmp.Or(words.ProviderName(f.ProviderEntry()), "the provider"), since)
	case b.Topic == TopicProgress:
		return fmt.Sprintf("Still working: %s, %s", b.What, since)
	case b.Topic == TopicToolSays:
		return b.What + ": " + b.Detail
	case b.Topic == TopicToolLate:
		return b.What + " ended after the run had."
	case b.Topic == TopicTooLate:
		return "An answer came too late and changed nothing."
	}
	return ""
}

func (r *Run) toolLine(b ToolReturned) string {
	if b.Outcome != OutcomeUnknown || len(r.Policy.Plugins) > 0 { // otherwise the failure that follows says it
		return ""
	}
	f := failure.NewFailure(failure.KindToolFailure, failure.OriginTool, failure.PhaseTool, nil)
	f.Variant, f.Tool = failure.VariantUnknownOutcome, b.Result.Name
	if b.Limit > 0 {
		f.Timer, f.Limit = failure.TimerTool, b.Limit
	}
	var w failure.Words
	if t := r.tool(b.CallID); t != nil {
		f.Tool, w.Lost, w.Unanswered = cmp.Or(f.Tool, t.Call.Name), t.State == ToolCallOrphaned, t.By == ByCaller
	}
	f.Describe(w)
	return f.Line()
}

func (r *Run) endedLine(b Ended) string {
	switch {
	case b.Status == StatusCancelled:
		return r.stoppedLine()
	case b.Status == StatusCompleted && b.Truncated:
		return "Done. The answer was cut at the output limit."
	case b.Status == StatusCompleted:
		return "Done."
	case r.offer == suggestionOver:
		return expiredLine
	case r.offer == suggestionOpen:
		return supersededLine
	case r.Open != nil:
		return "Failed. " + r.Open.Failure.Short() + "."
	}
	return "Failed."
}

// worded adds the message to a failure that this package made itself.
func (r *Run) worded(b Body) Body {
	if failed, ok := b.(Failed); ok && failed.Failure.Title == "" {
		return failed.worded()
	}
	return b
}

// worded is f with a message. It is a method of its own because f moves to the heap here, which
// costs every event an allocation where it is done beside the question what kind of event it is.
func (f Failed) worded() Failed {
	f.Failure.Describe(failure.Words{})
	return f
}

// budgetWords say how much of that part of a budget is spent or, if some is left, how much the next
// call needs.
func budgetWords(part string, spent, needs, limit Budget) failure.Words {
	tell, used := tellTokens, func(b Budget) string { return words.Count(b.Tokens) }
	if part != partTokens {
		tell, used = tellMoney, tellMoney
	}
	w := failure.Words{Spent: used(spent), Budget: tell(limit)}
	if limit.exhausted(spent) == "" && needs != (Budget{}) {
		w.Needs = tell(needs)
		if spent != (Budget{}) {
			w.Left = used(limit.Minus(spent))
		}
	}
	return w
}

func tellTokens(b Budget) string { return words.Counted(b.Tokens, " tokens") }

func tellMoney(b Budget) string { return words.Dollars(b.Microdollars) }
