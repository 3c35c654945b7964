package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// CallerTool is a tool that is carried out by whoever starts the run.
type CallerTool struct {
	Name        string          `json:"name" pattern:"^[A-Za-z0-9_-]{1,64}$" doc:"That no tool of the server's has." example:"get_weather"`
	Description string          `json:"description,omitempty" maxLength:"16384" doc:"What it does: the model reads it."`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of its arguments; left out, an object with anything in it."`
	Safety      recovery.Safety `json:"safety,omitempty" enum:"read_only,idempotent" doc:"read_only changes nothing, idempotent may be done twice under one key. Left out, nobody has it done twice without asking."`
	TimeoutMs   int64           `json:"timeoutMs,omitempty" minimum:"0" maximum:"86400000" doc:"How long you may take for a call; 0 is the server's usual time for a tool (10 min)."`
}

// maxSchema bounds a tool's schema, in bytes.
const maxSchema = 64 << 10

// Decl is t as a run declares it.
func (t CallerTool) Decl() recovery.ToolDecl {
	return recovery.ToolDecl{
		Tool:   llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema},
		Safety: t.Safety, Timeout: failure.Millis(t.TimeoutMs), By: recovery.ByCaller,
	}
}

// CallResult is the result of a tool call that a run asked its caller to carry out.
type CallResult struct {
	CallID  string `json:"callId" minLength:"1" maxLength:"1024" doc:"The id of the call, as situation.awaited has it." example:"toolu_01"`
	Text    string `json:"text" maxLength:"262144" doc:"The result, for the model: at most 256 KiB."`
	IsError bool   `json:"isError,omitempty" doc:"The tool failed, and text says why: the model is told, and goes on."`
}

type resultsInput struct {
	RunPath
	Body struct {
		Results []CallResult `json:"results" minItems:"1" maxItems:"128"`
	}
}

func (g *Gateway) registerTools() {
	if g.cfg.ToolResults == nil {
		return
	}
	register(g, huma.Operation{
		OperationID: "return-tool-results", Method: http.MethodPost, Path: "/v1/runs/{id}/tool-results", Tags: []string{"runs"},
		Summary: "Give the results of tool calls that the run asked of you", DefaultStatus: http.StatusAccepted,
		Description:  "A run that was started with tools waits, with waitingFor tool, and says in situation.awaited for which calls. A result counts once: the same one may be sent again. All of a request are taken, or none. 404: the run asks for no such call. 409: the call has another result. 410: nobody waits for it any more.",
		MaxBodyBytes: maxBody, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusUnprocessableEntity},
	}, g.returnResults)
}

func (g *Gateway) returnResults(ctx context.Context, in *resultsInput) (*runOutput, error) {
	if err := g.cfg.ToolResults(ctx, in.ID, in.Body.Results); err != nil {
		return nil, g.problem(err)
	}
	return g.runOutput(ctx, in.ID)
}

// checkTools says what is wrong with the tools of a Start, beyond what its schema checks.
func (g *Gateway) checkTools(s *Start) error {
	if len(s.Tools) > 0 && g.cfg.ToolResults == nil {
		return &InputError{"tools", errors.New("this gateway does not let callers bring tools of their own")}
	}
	for i, t := range s.Tools {
		if len(t.Schema) > maxSchema {
			return &InputError{fmt.Sprintf("tools[%d].schema", i), errors.New("it has more than 64 KiB")}
		}
	}
	return nil
}
