package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// errNothingAsked says that a client answers a conversation without a run (HTTP 409).
var errNothingAsked = huma.Error409Conflict("nobody was asked anything in this conversation")

// talked is the run that a client hears about.
type talked struct {
	run      string
	seq      uint64 // its last event when the client asked
	answered string // the suggestion that the client has answered
}

// carryOut executes what a client of another protocol wants, and returns the run to stream to it; none
// if the conversation has none and nothing was said.
func (g *Gateway) carryOut(ctx context.Context, c tell.Command) (talked, error) {
	last, err := g.newest(ctx, c.Session)
	if err != nil {
		return talked{}, err
	}
	switch {
	case c.Answer != nil && last == "":
		return talked{}, errNothingAsked
	case c.Answer != nil:
		return g.answered(ctx, last, *c.Answer)
	case c.Text == "":
		return g.asItStands(ctx, last)
	case c.Again && last != "":
		return g.again(ctx, last, c)
	}
	t, err := g.begin(ctx, last, c)
	if err == nil && c.Dismissed != "" && t.run == last { // there was no new message
		return g.answered(ctx, last, tell.Answer{SuggestionID: c.Dismissed, Action: recovery.ButtonStop})
	}
	return t, err
}

// newest is the newest run of a conversation, "" if there is none.
func (g *Gateway) newest(ctx context.Context, session string) (string, error) {
	list, err := g.cfg.Log.List(ctx, timeline.Query{Session: session, Limit: 1})
	if err != nil || len(list) == 0 {
		return "", g.problemOrNil(err)
	}
	return list[0].Run, nil
}

func (g *Gateway) problemOrNil(err error) error {
	if err == nil {
		return nil
	}
	return g.problem(err)
}

func (g *Gateway) asItStands(ctx context.Context, run string) (talked, error) {
	if run == "" {
		return talked{}, nil
	}
	state, err := g.inspect(ctx, run)
	if err != nil {
		return talked{}, err
	}
	return talked{run: run, seq: state.Seq}, nil
}

// answered answers what a run asks. If somebody else has answered, or it has expired, the run's own
// stream says so.
func (g *Gateway) answered(ctx context.Context, run string, a tell.Answer) (talked, error) {
	before, err := g.inspect(ctx, run)
	if err != nil {
		return talked{}, err
	}
	err = g.cfg.Runs.Recover(ctx, run, Answer{Suggestion: a.SuggestionID, Action: a.Action, Model: a.Model})
	if errors.Is(err, recovery.ErrAnswered) || errors.Is(err, recovery.ErrExpired) || errors.Is(err, recovery.ErrNoSuggestion) {
		return g.asItStands(ctx, run)
	}
	if err != nil {
		return talked{}, g.problem(err)
	}
	t, err := g.asItStands(ctx, run)
	if open := before.Suggestion; before.SuggestionOpen() {
		t.answered = open.ID
	}
	return t, err
}

// again gives a message another answer. A failed run is retried, one in progress is followed, and if
// there is an answer the message is sent again.
func (g *Gateway) again(ctx context.Context, last string, c tell.Command) (talked, error) {
	state, err := g.inspect(ctx, last)
	if err != nil {
		return talked{}, err
	}
	if asked(state) != c.Text {
		return g.begin(ctx, last, c)
	}
	if open := state.OpenSuggestion(g.cfg.Now()); open != nil {
		if retry, ok := open.Button(recovery.ButtonRetry); ok {
			return g.answered(ctx, last, tell.Answer{SuggestionID: open.ID, Action: retry.ID})
		}
		return talked{run: last, seq: state.Seq}, nil
	}
	if !state.Settled() {
		return talked{run: last, seq: state.Seq}, nil
	}
	c.Message += "\x00" + last
	return g.begin(ctx, last, c)
}

// asked is what the user said in a run.
func asked(r *recovery.Run) string {
	var parts []string
	for _, m := range r.Messages[r.Carried:] {
		if m.Role != llm.RoleUser {
			break
		}
		parts = append(parts, m.Text())
	}
	return strings.Join(parts, "\n\n")
}

// stopping is how long a run may take to end while the next message waits for it.
const stopping = 20 * time.Second

// begin begins the run for a message, even if the client goes away, because the message must not be
// lost. A run in progress is stopped; what it has said is kept.
func (g *Gateway) begin(ctx context.Context, last string, c tell.Command) (talked, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopping)
	defer cancel()
	s := Start{Prompt: c.Text, Session: c.Session, Model: c.Model, AutoRecover: c.AutoRecover}
	if last == "" && len(c.History) > 0 {
		s.Prompt, s.Messages = "", append(slices.Clone(c.History), llm.User(c.Text))
	}
	if c.Message != "" {
		sum := sha256.Sum256([]byte(c.Session + "\x00" + c.Message + "\x00" + c.Text))
		s.Fingerprint = hex.EncodeToString(sum[:])
		s.Key = ownKey(ctx, "message:"+s.Fingerprint)
	}
	run, err := g.cfg.Runs.Start(ctx, s)
	for errors.Is(err, ErrBusy) && ctx.Err() == nil {
		if err := g.stop(ctx, c.Session); err != nil {
			return talked{}, err
		}
		run, err = g.cfg.Runs.Start(ctx, s)
	}
	if err != nil {
		return talked{}, g.problem(err)
	}
	return g.asItStands(ctx, run)
}

// stop ends a conversation's run in progress, and waits for its end.
func (g *Gateway) stop(ctx context.Context, session string) error {
	run, err := g.newest(ctx, session)
	if err != nil || run == "" {
		return err
	}
	if err := g.cfg.Runs.Cancel(ctx, run); err != nil {
		g.cfg.Logger.Info("a run that is in the way of a message is not stopped yet", "run", run, "err", err)
	}
	for item, err := range g.cfg.Log.Follow(ctx, run, 0) {
		if err != nil {
			return g.problem(err)
		}
		if item.Event == nil {
			continue
		}
		if _, over := item.Event.Body.(recovery.Ended); over {
			break
		}
	}
	return nil
}
