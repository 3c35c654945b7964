package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Run is where a run stands, as the gateway folds it.
type Run struct {
	ID          string             `json:"id"`
	Session     string             `json:"session"`
	Status      recovery.Status    `json:"status"`
	WaitingFor  recovery.WaitFor   `json:"waitingFor"`  // "" unless it waits
	StopReason  string             `json:"stopReason"`  // "" until it has ended
	ChosenModel string             `json:"chosenModel"` // that it was started with
	Model       string             `json:"model"`       // that is asked, or was asked last
	Seq         uint64             `json:"seq"`         // of its last event: follow from here
	ServerNow   time.Time          `json:"serverNow"`   // count down to times of a Run from this one
	Attempt     *Attempt           `json:"attempt"`     // the model call that is going on, nil for none
	Answer      Answered           `json:"answer"`
	Error       *failure.Failure   `json:"error"`     // of a run that failed or is being recovered
	Situation   recovery.Situation `json:"situation"` // what a person should see and can do
	Meta        Meta               `json:"meta"`
}

// Attempt is a model call that is going on.
type Attempt struct {
	ID       uint64    `json:"id"`
	Model    string    `json:"model"`
	Retry    int       `json:"retry"` // n of attempt n/m; 0 = the first
	Of       int       `json:"of"`
	BeganAt  time.Time `json:"beganAt"`
	CutShort *CutShort `json:"cutShort"` // offer it once the call is slow
}

// CutShort is what a person may do who does not wait any longer for a model call.
type CutShort struct {
	ID      string            `json:"id"` // Answer.Suggestion
	Actions []recovery.Button `json:"actions"`
}

// Answered is what the model said last.
type Answered struct {
	Text      string `json:"text"`
	Model     string `json:"model"`     // that wrote it
	Partial   bool   `json:"partial"`   // the attempt that wrote it failed or goes on
	Truncated bool   `json:"truncated"` // it was cut at the output limit
}

// Meta is what is said about a run beside it.
type Meta struct {
	// RecoverySuggestion is what a person may choose from, nil unless one is open.
	RecoverySuggestion *recovery.Suggestion `json:"recoverySuggestion"`
}

// Run says where a run stands. It fails with ErrNotFound.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	var run Run
	err := c.do(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(id), nil, nil, &run)
	return run, err
}
