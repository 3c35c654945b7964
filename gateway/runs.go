package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// ErrKeyReused says that an idempotency key was used for another request (HTTP 409).
var ErrKeyReused = errors.New("this idempotency key was used for another request")

// Start is the request to begin a run. Empty fields get the server's defaults.
type Start struct {
	Key         string `json:"-"` // an idempotency key, or ""
	Fingerprint string `json:"-"` // of all other fields, if there is a Key

	Prompt      string                  `json:"prompt,omitempty" doc:"What the user says, after messages if there are any; one of the two is needed." minLength:"1" maxLength:"16777216" example:"What is a mulligan?"`
	Messages    []llm.Message           `json:"messages,omitempty" doc:"A conversation that ends with what the user says." minItems:"1" maxItems:"10000"`
	BranchOf    string                  `json:"branchOf,omitempty" doc:"A run that has ended, of any conversation: this one begins with what was said there up to that run's end, before messages and prompt." pattern:"^[a-z0-9-]{1,64}$"`
	Model       string                  `json:"model,omitempty" doc:"provider/model" example:"anthropic/claude-sonnet-4-5" maxLength:"256"`
	Fallbacks   []string                `json:"fallbacks,omitempty" doc:"Models that the run may switch to, in order of preference." maxItems:"32"`
	System      string                  `json:"system,omitempty" doc:"The system text." maxLength:"1048576"`
	Session     string                  `json:"session,omitempty" doc:"The conversation that it continues; a new name begins one." maxLength:"128" pattern:"^([A-Za-z0-9_:-]|[.][A-Za-z0-9_:-]|[.][.][A-Za-z0-9._:-])[A-Za-z0-9._:-]*$"`
	SessionKey  string                  `json:"sessionKey,omitempty" doc:"What you call the conversation; plugins are told." maxLength:"128"`
	AgentID     string                  `json:"agentId,omitempty" doc:"What you call the agent; plugins are told." maxLength:"128"`
	Labels      recovery.Labels         `json:"labels,omitempty" doc:"Your own words for the run, to list it by: at most 16, named by small letters, digits and ._/-, of at most 256 characters each. No model is told." example:"{\"tenant\":\"acme\"}"`
	Needs       recovery.Labels         `json:"needs,omitempty" doc:"Labels of a machine, beside those that the run's tools and its model need: only a process whose machine has all of them drives the run. It waits until one is there." example:"{\"files\":\"builds\"}"`
	AutoRecover *bool                   `json:"autoRecover,omitempty" doc:"Whether decisions are carried out or offered."`
	MaxRetries  *int                    `json:"maxRetries,omitempty" doc:"Retries of one model call." minimum:"0" maximum:"5"`
	MaxRounds   *int                    `json:"maxRounds,omitempty" doc:"Model calls that may ask for tools; 0 is no limit." minimum:"0" maximum:"100000"`
	Timeouts    map[failure.Timer]int64 `json:"timeouts,omitempty" doc:"Timers in milliseconds by name (first_event, connect, bytes, idle, step, max_turn, run, tool, progress_after, patience); 0 is off." example:"{\"idle\":120000}"`
	Tools       []CallerTool            `json:"tools,omitempty" maxItems:"128" doc:"Tools that you carry out, beside the server's own: the run waits for their results at /v1/runs/{id}/tool-results."`
	Budget      *recovery.Budget        `json:"budget,omitempty" doc:"What the run may use; fields of 0 are unlimited."`
}

// TransformSchema says which fields a Start needs, and which roles its messages may
// have.
func (*Start) TransformSchema(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	s.AnyOf = []*huma.Schema{{Required: []string{"prompt"}}, {Required: []string{"messages"}}}
	role := schemas.Map()["Message"].Properties["role"]
	role.Enum = []any{string(llm.RoleUser), string(llm.RoleAssistant), string(llm.RoleTool)}
	role.PrecomputeMessages()
	return s
}

type startInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"128" doc:"The same key gives the same run, however often it is sent."`
	Body Start
}

type runOutput struct {
	Location string `header:"Location"`
	Body     Run
}

// RunPath names a run in a path.
type RunPath struct {
	ID string `path:"id" pattern:"^[a-z0-9-]{1,64}$" doc:"The run's id." example:"r01jqz3v7e8k9m2n4p5r6s7t8v9"`
}

func (g *Gateway) registerRuns() {
	register(g, huma.Operation{
		OperationID: "start-run", Method: http.MethodPost, Path: "/v1/runs", Summary: "Start a run", Tags: []string{"runs"},
		DefaultStatus: http.StatusCreated, MaxBodyBytes: maxBody, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
	}, g.startRun)
	register(g, huma.Operation{
		OperationID: "list-runs", Method: http.MethodGet, Path: "/v1/runs", Summary: "List runs", Tags: []string{"runs"},
	}, g.listRuns)
	register(g, huma.Operation{
		OperationID: "get-run", Method: http.MethodGet, Path: "/v1/runs/{id}", Summary: "Where a run stands", Tags: []string{"runs"},
		Errors: []int{http.StatusNotFound},
	}, g.getRun)
	register(g, huma.Operation{
		OperationID: "cancel-run", Method: http.MethodPost, Path: "/v1/runs/{id}/cancel", Summary: "End a run", Tags: []string{"runs"},
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound},
	}, g.cancelRun)
}

// maxBody bounds a request's body, in bytes (S12).
const maxBody = 8 << 20

func (g *Gateway) startRun(ctx context.Context, in *startInput) (*runOutput, error) {
	s := in.Body
	if err := errors.Join(s.check(), g.checkTools(&s)); err != nil {
		return nil, g.problem(err)
	}
	if in.Key != "" {
		sum, err := fingerprint(s)
		if err != nil {
			return nil, g.problem(err)
		}
		s.Key, s.Fingerprint = ownKey(ctx, in.Key), sum
	}
	if err := g.branch(ctx, &s); err != nil {
		return nil, err
	}
	run, err := g.cfg.Runs.Start(ctx, s)
	if err != nil {
		return nil, g.problem(err)
	}
	return g.runOutput(ctx, run)
}

// branch puts what was said up to the end of the run s.BranchOf before the messages of s. It copies
// them, because that run may be deleted and its conversation may go on.
func (g *Gateway) branch(ctx context.Context, s *Start) error {
	if s.BranchOf == "" {
		return nil
	}
	before, err := g.cfg.Runs.Inspect(ctx, s.BranchOf)
	switch {
	case errors.Is(err, timeline.ErrNotFound):
		return g.problem(&InputError{"branchOf", errors.New("there is no such run")})
	case err != nil:
		return g.problem(err)
	case before.End == nil:
		return huma.Error409Conflict("the run has not ended: what follows it is not known yet")
	}
	s.Messages = append(before.Conversation(), s.Messages...)
	return nil
}

// check says what is wrong with a Start, beyond what its schema checks.
func (s *Start) check() error {
	if s.Prompt == "" && len(s.Messages) == 0 {
		return &InputError{"prompt", errors.New("there is neither a prompt nor messages")}
	}
	for i, m := range s.Messages {
		switch m.Role {
		case llm.RoleUser, llm.RoleAssistant, llm.RoleTool:
		default:
			return &InputError{fmt.Sprintf("messages[%d].role", i), fmt.Errorf("it is %s, %s or %s", llm.RoleUser, llm.RoleAssistant, llm.RoleTool)}
		}
	}
	if b := s.Budget; b != nil && (b.Tokens < 0 || b.Microdollars < 0) {
		return &InputError{"budget", errors.New("it is negative; 0 means no limit")}
	}
	return nil
}

// fingerprint identifies the content of a request, to compare two with the same
// idempotency key.
func fingerprint(s Start) (string, error) {
	data, err := json.Marshal(s)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

func (g *Gateway) runOutput(ctx context.Context, run string) (*runOutput, error) {
	state, err := g.inspect(ctx, run)
	if err != nil {
		return nil, err
	}
	return &runOutput{Location: "/v1/runs/" + run, Body: g.viewed(ctx, state)}, nil
}

func (g *Gateway) getRun(ctx context.Context, in *RunPath) (*runOutput, error) {
	return g.runOutput(ctx, in.ID)
}

func (g *Gateway) cancelRun(ctx context.Context, in *RunPath) (*runOutput, error) {
	if err := g.cfg.Runs.Cancel(ctx, in.ID); err != nil {
		return nil, g.problem(err)
	}
	return g.runOutput(ctx, in.ID)
}
