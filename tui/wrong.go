package tui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// With /wrong, a person who knows better says what a failure really is. It applies to the next
// such failure.

type lessonMsg struct {
	kinds  []client.KindListed // the kinds to choose from, if they were asked for
	lesson client.Lesson
	err    error
}

// errLearnsNothing says that no failure can be corrected here.
var errLearnsNothing = errors.New("this gateway takes no corrections")

// commandWrong corrects the kind of the current failure, or lists the kinds.
func (c *Chat) commandWrong(kind string) tea.Cmd {
	t := c.last()
	if t == nil || t.view.State.Open == nil {
		c.notice = "Nothing has failed just now: /wrong is for saying what kind of failure something really is."
		return nil
	}
	f := t.view.State.Open.Failure
	if f.Origin != failure.OriginModel || f.Timer != "" {
		c.notice = "Mulligan saw this failure happen itself, so its kind cannot be corrected."
		return nil
	}
	run := t.run
	return c.ask(func(ctx context.Context) tea.Msg {
		if kind == "" {
			kinds, err := c.cfg.Client.Kinds(ctx)
			if err == nil && len(kinds) == 0 {
				err = errLearnsNothing
			}
			return lessonMsg{kinds: kinds, err: err}
		}
		lesson, err := c.cfg.Client.Learn(ctx, run, f.Kind, failure.Kind(strings.ReplaceAll(kind, " ", "_")))
		return lessonMsg{lesson: lesson, err: err}
	})
}

// learned says what the correction did.
func (c *Chat) learned(msg lessonMsg) {
	c.complain(msg.err)
	switch l := msg.lesson; {
	case msg.err != nil:
	case msg.kinds != nil:
		var names []string
		for _, k := range msg.kinds {
			names = append(names, string(k.Kind))
		}
		c.tell(page{rows: []row{{"/wrong KIND", "treat failures like this as that kind from now on; the kinds are " + strings.Join(names, ", ")}}})
	case l.Row == "":
		c.notice = "Failures like this are " + line(string(l.After)) + " already."
	default:
		c.notice = strings.TrimSpace("Failures like this are " + line(string(l.After)) + " from the next one on; this one stays as it was. " + line(l.Warning) +
			" Written to " + line(l.File) + ": delete the row to undo it.")
	}
}
