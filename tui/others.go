package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// lookEvery is how often the chat looks for runs that others have begun in its conversation: another
// terminal, the page, an editor. A gateway tells what happens to a run, not that there is another one.
const lookEvery = 2 * time.Second

// What a person is told whose message is held back, because it would end what they have not seen.
const (
	heldOpen   = "Not sent yet: this was asked elsewhere meanwhile, and waits for a choice. Enter sends your message, and closes the suggestion."
	heldGoesOn = "Not sent yet: this was asked elsewhere meanwhile, and goes on. Enter stops it, and sends your message."
)

type (
	lookMsg   struct{}
	unseenMsg struct {
		runs []client.Listed // newest first
		err  error
	}
)

// lookLater looks for others' runs after a while.
func lookLater() tea.Cmd {
	return tea.Tick(lookEvery, func(time.Time) tea.Msg { return lookMsg{} })
}

// look asks for the runs of the conversation that the chat does not show.
func (c *Chat) look() tea.Cmd {
	known := c.known()
	return c.ask(func(ctx context.Context) tea.Msg {
		runs, err := c.unseen(ctx, known)
		return unseenMsg{runs, err}
	})
}

// known are the runs that the chat shows, by their ids.
func (c *Chat) known() map[string]bool {
	known := map[string]bool{}
	for _, t := range c.turns {
		known[t.run] = true
	}
	return known
}

// unseen are the newest runs of the conversation, newest first, down to the first known one.
func (c *Chat) unseen(ctx context.Context, known map[string]bool) ([]client.Listed, error) {
	var runs []client.Listed
	for run, err := range c.cfg.Client.Runs(ctx, client.Query{Session: c.cfg.Session}) {
		if err != nil {
			return nil, err
		}
		if known[run.ID] || len(runs) == maxHistory {
			break
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// looked shows what others have begun. While a message of this chat begins its own run, what is
// found may be that one: the next look tells.
func (c *Chat) looked(msg unseenMsg) tea.Cmd {
	if msg.err != nil {
		return lookLater() // a person who does something hears of it
	}
	if c.notice == awayLine {
		c.notice = ""
	}
	if t := c.last(); t != nil && t.run == "" {
		return lookLater()
	}
	return tea.Batch(c.join(len(c.turns), msg.runs, true), lookLater())
}

// join shows runs, newest first, that are not shown yet, from a place among the turns on, and
// follows them. others says that they began while this chat was open.
func (c *Chat) join(at int, runs []client.Listed, others bool) tea.Cmd {
	var cmds []tea.Cmd
	for _, run := range slices.Backward(runs) {
		if i := slices.IndexFunc(c.turns, func(t *turn) bool { return t.run == run.ID }); i >= 0 {
			at = i + 1
			continue
		}
		t := newTurn(run.Title)
		t.run, t.others = run.ID, others
		c.turns = slices.Insert(c.turns, at, t)
		c.unanswered = client.Start{} // if it had begun a run, that is shown now
		cmds = append(cmds, c.follow(t))
		at++
	}
	return tea.Batch(cmds...)
}

// holds reports whether a message may not be sent before the person has seen a run, since it would
// end the run.
func holds(unseen []client.Listed) bool {
	return len(unseen) > 0 && (unseen[0].SuggestionOpen || unseen[0].Status == recovery.StatusRunning || unseen[0].Status == recovery.StatusWaiting)
}

// held puts a message that was not sent back into the composer, and shows what it would have ended.
func (c *Chat) held(t *turn, unseen []client.Listed) tea.Cmd {
	c.drop(t)
	c.compose(asMessage(strings.TrimSpace(t.prompt + "\n" + c.queued + "\n" + c.input.Value())))
	c.queued = ""
	c.notice = heldGoesOn
	if unseen[0].SuggestionOpen {
		c.notice = heldOpen
	}
	return c.join(len(c.turns), unseen, true)
}

// asMessage is a message as it is typed: one that begins like a command needs a space before it.
func asMessage(text string) string {
	if strings.HasPrefix(text, "/") {
		return " " + text
	}
	return text
}

// drop removes a turn from the conversation.
func (c *Chat) drop(t *turn) {
	c.turns = slices.DeleteFunc(c.turns, func(other *turn) bool { return other == t })
}
