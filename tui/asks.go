package tui

import (
	"context"
	"crypto/rand"
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// What the gateway answered, as messages to the program.
type (
	historyMsg struct {
		session client.Session
		err     error
	}
	startedMsg struct {
		turn   *turn
		sent   client.Start    // what may have begun a run whose response was lost
		unseen []client.Listed // runs that others had begun before, newest first
		run    string          // "" without an error: it was not sent
		err    error
	}
	itemsMsg struct {
		turn  *turn
		items []client.Item
		more  <-chan followed // nil = nothing more comes
		err   error
	}
	answeredMsg struct {
		asks string
		err  error
	}
	cancelledMsg struct{ err error }
	modelsMsg    struct {
		models []client.Model
		choice int // the number of the chosen one, or askModels
		err    error
	}
	chosenMsg struct {
		model    string
		defaults client.Defaults
		there    []client.Model // the models there are, if it was refused
		err      error
	}
	runsMsg struct {
		runs []client.Listed
		err  error
	}
	tickMsg struct{}
)

// askTimeout bounds a request that is not a stream.
const askTimeout = 30 * time.Second

// maxHistory is how many runs of a resumed conversation are shown, and maxRuns how
// many are listed.
const (
	maxHistory = 20
	maxRuns    = 15
)

// ask makes a command from a request.
func (c *Chat) ask(do func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(c.ctx, askTimeout)
		defer cancel()
		return do(ctx)
	}
}

// loadHistory asks for what was said before in the session, and for its defaults.
func (c *Chat) loadHistory() tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		session, err := c.cfg.Client.Session(ctx, c.cfg.Session)
		return historyMsg{session, err}
	})
}

// loadRuns asks for the runs of all conversations.
func (c *Chat) loadRuns() tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		var runs []client.Listed
		for run, err := range c.cfg.Client.Runs(ctx, client.Query{}) {
			if err != nil {
				return runsMsg{runs, err}
			}
			if runs = append(runs, run); len(runs) == maxRuns {
				break
			}
		}
		return runsMsg{runs, nil}
	})
}

// Why the list of models was asked for, unless it is for the model with that number.
const (
	knowModels = 0  // only for the name of the gateway's own
	askModels  = -1 // somebody wants to choose
)

func (c *Chat) loadModels(choice int) tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		models, err := c.cfg.Client.Models(ctx)
		return modelsMsg{models, choice, err}
	})
}

// useModel makes a model the session's; the gateway refuses one that it does not know.
func (c *Chat) useModel(model string) tea.Cmd {
	defaults := c.defaults
	defaults.Model = model
	return c.ask(func(ctx context.Context) tea.Msg {
		_, err := c.cfg.Client.SetSession(ctx, c.cfg.Session, defaults)
		msg := chosenMsg{model: model, defaults: defaults, err: err}
		if err != nil {
			msg.there, _ = c.cfg.Client.Models(ctx) // shown with the error, if they can be had
		}
		return msg
	})
}

// start begins a turn's run, unless it would end one that the person has not seen. A message whose
// response was lost may have begun one already: if the person sends it again, it gets the same key,
// so that it cannot begin a second, and is not held back by the first.
func (c *Chat) start(t *turn) tea.Cmd {
	s := client.Start{Key: c.unanswered.Key, Prompt: t.prompt, Session: c.cfg.Session, Model: c.model, AutoRecover: c.auto}
	again := reflect.DeepEqual(s, c.unanswered)
	if !again {
		s.Key = rand.Text()
	}
	known, before := c.known(), c.unanswered
	return c.ask(func(ctx context.Context) tea.Msg {
		unseen, err := c.unseen(ctx, known)
		if err != nil || holds(unseen) && !again {
			return startedMsg{t, before, unseen, "", err}
		}
		run, err := c.cfg.Client.Start(ctx, s)
		return startedMsg{t, s, unseen, run, err}
	})
}

func (c *Chat) answer(run string, a client.Answer) tea.Cmd {
	c.answering = a.Suggestion
	return c.ask(func(ctx context.Context) tea.Msg {
		return answeredMsg{a.Suggestion, c.cfg.Client.Recover(ctx, run, a)}
	})
}

func (c *Chat) cancelRun(run string) tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		return cancelledMsg{c.cfg.Client.Cancel(ctx, run)}
	})
}

// followed is one item of a followed run, or an error.
type followed struct {
	item client.Item
	err  error
}

// follow delivers what happens to a turn's run, for as long as the chat is open.
func (c *Chat) follow(t *turn) tea.Cmd {
	run, after := t.run, t.view.State.Seq
	items := make(chan followed, maxBatch)
	go func() {
		defer close(items)
		for item, err := range c.cfg.Client.Follow(c.ctx, run, after) {
			select {
			case items <- followed{item, err}:
			case <-c.ctx.Done():
				return
			}
		}
	}()
	return listen(t, items)
}

// maxBatch is how many items are taken at once, so that a long answer is one frame, not
// thousands.
const maxBatch = 256

// listen waits for the next items and takes those that are there.
func listen(t *turn, items <-chan followed) tea.Cmd {
	return func() tea.Msg {
		msg := itemsMsg{turn: t, more: items}
		for got, ok := <-items; ; {
			switch {
			case !ok:
				msg.more = nil
				return msg
			case got.err != nil:
				msg.more, msg.err = nil, got.err
				return msg
			}
			if msg.items = append(msg.items, got.item); len(msg.items) == maxBatch {
				return msg
			}
			select {
			case got, ok = <-items:
			default:
				return msg
			}
		}
	}
}

// tick triggers the next frame while a time on the screen changes.
func tick(after time.Duration) tea.Cmd {
	return tea.Tick(after, func(time.Time) tea.Msg { return tickMsg{} })
}
