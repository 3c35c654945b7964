package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/gateway/internal/aisdk"
	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/timeline"
)

const aisdkPath = "/v1/aisdk"

type (
	aisdkInput struct{ Body aisdk.Request }
	// chatInput names a chat of the AI SDK, which is a conversation here.
	chatInput struct {
		query
		ID string `path:"id" maxLength:"128" pattern:"^([A-Za-z0-9_:-]|[.][A-Za-z0-9_:-]|[.][.][A-Za-z0-9._:-])[A-Za-z0-9._:-]*$" doc:"The chat's id." example:"golf"`
	}
	chatOutput struct {
		Body struct {
			Messages []aisdk.UIMessage `json:"messages" doc:"For useChat, the oldest first: at most those of the last 100 runs."`
		}
	}
)

func (g *Gateway) registerAISDK() {
	stream := map[string]*huma.Response{"200": {
		Description: "A UI message stream: server-sent events, each a chunk of the AI SDK's, and at last [DONE].",
		Content:     map[string]*huma.MediaType{"text/event-stream": {}},
	}}
	register(g, huma.Operation{
		OperationID: "chat-aisdk", Method: http.MethodPost, Path: aisdkPath, Tags: []string{"clients"},
		Summary: "What useChat of the AI SDK sends: a message, or a button that was pressed",
		Description: "The chat is the conversation of that id, and its last message of the user is answered; the message of the assistant has the run's id. " +
			"A message that is sent while a run of the chat goes on stops that run. With `recovery` a suggestion is answered. " +
			"Who hangs up stops nothing: the run goes on, and its stream can be had again.",
		Responses: stream, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
	}, g.chatAISDK)
	register(g, huma.Operation{
		OperationID: "resume-aisdk", Method: http.MethodGet, Path: aisdkPath + "/{id}/stream", Tags: []string{"clients"},
		Summary:   "The stream of a chat's run once more, from its beginning: what useChat with resume asks",
		Responses: map[string]*huma.Response{"200": stream["200"], "204": {Description: "No run of the chat goes on."}},
	}, g.resumeAISDK)
	register(g, huma.Operation{
		OperationID: "messages-aisdk", Method: http.MethodGet, Path: aisdkPath + "/{id}/messages", Tags: []string{"clients"},
		Summary: "A chat as messages, for a page that was just loaded; the answer of a run that goes on is its stream",
	}, g.messagesAISDK)
	g.lenient("AISDKRequest", "AISDKMessage", "AISDKPart")
}

// lenient allows unknown fields in bodies, because other people's clients add their
// own.
func (g *Gateway) lenient(names ...string) {
	for _, name := range names {
		g.api.OpenAPI().Components.Schemas.Map()[name].AdditionalProperties = &huma.Schema{}
	}
}

func (g *Gateway) chatAISDK(ctx context.Context, in *aisdkInput) (*huma.StreamResponse, error) {
	command, err := in.Body.Command()
	if err != nil {
		return nil, g.talkProblem(err)
	}
	t, err := g.carryOut(ctx, command)
	if err != nil {
		return nil, err
	}
	return g.sayAISDK(t), nil
}

func (g *Gateway) sayAISDK(t talked) *huma.StreamResponse {
	return answerByStream(aisdk.Header(), func(ctx context.Context, w http.ResponseWriter) {
		g.talk(ctx, w, t, aisdk.New(t.run))
	})
}

// talkProblem is problem, plus the errors of a command.
func (g *Gateway) talkProblem(err error) error {
	if field, ok := errors.AsType[*tell.FieldError](err); ok {
		return g.problem(&InputError{field.Field, field.Err})
	}
	return g.problem(err)
}

// justOver is how long an ended run is still streamed to a client that reconnects: the client may have
// loaded its messages before the end.
const justOver = 30 * time.Second

func (g *Gateway) resumeAISDK(ctx context.Context, in *chatInput) (*huma.StreamResponse, error) {
	last, err := g.newest(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	none := &huma.StreamResponse{Body: func(out huma.Context) { out.SetStatus(http.StatusNoContent) }}
	if last == "" {
		return none, nil
	}
	state, err := g.inspect(ctx, last)
	if err != nil {
		return nil, err
	}
	if state.Settled() && g.cfg.Now().Sub(state.Last) > justOver {
		return none, nil
	}
	return g.sayAISDK(talked{run: last, seq: state.Seq}), nil
}

// maxChat is how many of a chat's runs are returned.
const maxChat = 100

func (g *Gateway) messagesAISDK(ctx context.Context, in *chatInput) (*chatOutput, error) {
	list, err := g.cfg.Log.List(ctx, timeline.Query{Session: in.ID, Limit: maxChat})
	if err != nil {
		return nil, g.problem(err)
	}
	out := &chatOutput{}
	out.Body.Messages = []aisdk.UIMessage{}
	for i := len(list) - 1; i >= 0; i-- {
		state, err := g.runs.get(ctx, list[i].Run)
		if errors.Is(err, timeline.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, g.problem(err)
		}
		out.Body.Messages = append(out.Body.Messages, aisdk.History(state, g.cfg.Now())...)
	}
	return out, nil
}
