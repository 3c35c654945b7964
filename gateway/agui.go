package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/gateway/internal/agui"
	"github.com/mulligan-run/mulligan/timeline"
)

const aguiPath = "/v1/agui"

type aguiInput struct{ Body agui.Input }

func (g *Gateway) registerAGUI() {
	register(g, huma.Operation{
		OperationID: "run-agui", Method: http.MethodPost, Path: aguiPath, Tags: []string{"clients"},
		Summary: "What a client of AG-UI sends: a message, an answer to an interrupt, or nothing new",
		Description: "The thread is the conversation of that id; a last message of the user's is answered. A message that is sent while a run of the thread goes on stops that run. " +
			"With `resume`, or `forwardedProps.recovery`, a suggestion is answered. Without any of these the client gets the messages of the thread, and the rest of a run that goes on. " +
			"Who hangs up stops nothing.",
		Responses: map[string]*huma.Response{"200": {
			Description: "A stream of AG-UI's events, as server-sent events.",
			Content:     map[string]*huma.MediaType{"text/event-stream": {}},
		}},
		Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
	}, g.runAGUI)
	g.lenient("AGUIInput", "AGUIMessage", "AGUIResume")
}

func (g *Gateway) runAGUI(ctx context.Context, in *aguiInput) (*huma.StreamResponse, error) {
	command, err := in.Body.Command()
	if err != nil {
		return nil, g.talkProblem(err)
	}
	t, err := g.carryOut(ctx, command)
	if err != nil {
		return nil, err
	}
	var earlier []agui.Message
	if command.Text == "" && command.Answer == nil {
		if earlier, err = g.thread(ctx, command.Session); err != nil {
			return nil, err
		}
	}
	v := agui.New(&in.Body, t.run, earlier)
	return answerByStream(nil, func(ctx context.Context, w http.ResponseWriter) {
		if t.run != "" {
			g.talk(ctx, w, t, v)
			return
		}
		v.Nothing()
		if data, err := v.Take(); err == nil {
			_, _ = w.Write(data)
		}
	}), nil
}

// thread is a conversation as messages, up to the user's last message.
func (g *Gateway) thread(ctx context.Context, session string) ([]agui.Message, error) {
	list, err := g.cfg.Log.List(ctx, timeline.Query{Session: session, Limit: maxChat})
	if err != nil {
		return nil, g.problem(err)
	}
	var all []agui.Message
	for i := len(list) - 1; i >= 0; i-- {
		state, err := g.runs.get(ctx, list[i].Run)
		if errors.Is(err, timeline.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, g.problem(err)
		}
		said, err := agui.History(state, i == 0)
		if err != nil {
			return nil, g.problem(err)
		}
		all = append(all, said...)
	}
	return all, nil
}
