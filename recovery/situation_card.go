package recovery

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// asking has the stages of an open suggestion: its card, the card as it reads once the time that it
// mentions has come, and finally that the suggestion has expired.
func (r *Run) asking() []Stage {
	s := r.Suggestion
	until := comesBack(s, r.Open)
	card := Card{
		Title: s.Title, Message: s.Message, Tried: triedText(s), Grave: grave(s.Error), Why: s.Why, Limit: s.Limit, Call: r.CallAtHand(), Approval: s.AsksApproval(),
	}
	told := telling{until: until, in: s.Error.RetryAfter.Duration()}
	open := Stage{From: r.Last, State: StateSuggestion, Until: until, Asks: s.ID, Actions: told.buttons(s.Actions)}
	card.Message, card.Why = told.text(card.Message), told.text(card.Why)
	open.Card = &card
	stages := []Stage{open}
	if later := afterwards(card.Message); later != card.Message && until.Before(s.ExpiresAt) {
		back := card
		back.Message = later
		open.From, open.Card = until, &back
		stages = append(stages, open)
	}
	return append(stages, Stage{From: s.ExpiresAt, State: StateExpired, Line: expiredLine})
}

// failedCard shows a failure about which nothing more can be done.
func (r *Run) failedCard() []Stage {
	card := Card{Title: "Failed"}
	at := Stage{From: r.Last, State: StateFailed, Card: &card}
	if o := r.Open; o != nil {
		at.Until = cmp.Or(o.Failure.ResetsAt, time.Time{})
		card.Title, card.Message, card.Grave = cmp.Or(o.Failure.Title, "Failed"), telling{until: at.Until}.text(o.Failure.Message), grave(o.Failure)
	}
	at.Actions = []Button{{ID: ButtonCopyDetails, Kind: ButtonCopyDetails, Label: Label(ButtonCopyDetails, ""), Effect: EffectClient}}
	return []Stage{at}
}

// comesBack is when the cause of the failure will be over; zero if that is not known.
func comesBack(s *Suggestion, o *OpenFailure) time.Time {
	switch f := s.Error; {
	case !f.ResetsAt.IsZero():
		return f.ResetsAt
	case !s.ResetsAt.IsZero():
		return s.ResetsAt
	case f.RetryAfter > 0:
		return o.At.Add(f.RetryAfter.Duration())
	}
	return time.Time{}
}

// telling replaces a time in an event's words, and the time left until then, with placeholders.
type telling struct {
	until time.Time
	in    time.Duration
}

func (t telling) text(text string) string {
	if t.until.IsZero() {
		return text
	}
	for _, layout := range []string{words.UTCDay, words.UTCClock} {
		text = strings.ReplaceAll(text, t.until.UTC().Format(layout), "{clock}")
	}
	if t.in > 0 {
		left := words.Duration(t.in)
		for _, word := range []string{"in ", "for "} {
			for _, end := range []string{".", ")"} {
				text = strings.ReplaceAll(text, word+left+end, word+"{countdown}"+end)
			}
		}
	}
	return text
}

func (t telling) buttons(buttons []Button) []Button {
	list := append([]Button{}, buttons...)
	for i := range list {
		list[i].Label = t.text(list[i].Label)
	}
	return list
}

// afterwards is the message as it reads once its countdown is over.
func afterwards(message string) string {
	sentences := strings.SplitAfter(message, ". ")
	for i, said := range sentences {
		if strings.Contains(said, "{countdown}") {
			sentences[i] = "It may be asked again now. "
		}
	}
	return strings.TrimSpace(strings.Join(sentences, ""))
}

// grave reports whether the failure needs care: trying again would not help, or may do harm.
func grave(f failure.Failure) bool {
	if f.Kind == failure.KindAuth || f.Kind == failure.KindBilling || f.Kind == failure.KindTLS {
		return !f.Retryable
	}
	return f.Variant == failure.VariantUnknownOutcome
}

// triedText is "Tried 3 times over 14 s.", or "" if that is not worth saying.
func triedText(s *Suggestion) string {
	if len(s.Tried) < 2 {
		return ""
	}
	switch s.Error.Kind {
	case failure.KindTimeout, failure.KindUnreachable, failure.KindUnavailable, failure.KindOverloaded:
	default:
		return ""
	}
	first, last := s.Tried[0], s.Tried[len(s.Tried)-1]
	return fmt.Sprintf("Tried %d times over %s.", len(s.Tried), words.Duration(last.At.Add(last.Millis.Duration()).Sub(first.At)))
}
