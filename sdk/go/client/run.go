package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Run is the state of a run, as the gateway computes it.
type Run struct {
	ID          string             `json:"id"`
	Session     string             `json:"session"`
	Status      recovery.Status    `json:"status"`
	WaitingFor  recovery.WaitFor   `json:"waitingFor"`  // "" unless it waits
	StopReason  string             `json:"stopReason"`  // "" until it has ended
	ChosenModel string             `json:"chosenModel"` // the one it was started with
	Model       string             `json:"model"`       // the current one, or the last
	Seq         uint64             `json:"seq"`         // of its last event: follow from here
	ServerNow   time.Time          `json:"serverNow"`   // the gateway's clock: measure the times in a Run against it
	Attempt     *Attempt           `json:"attempt"`     // the model call in progress; nil = none
	Answer      Answered           `json:"answer"`
	Error       *failure.Failure   `json:"error"`     // of a run that failed or is recovering
	Situation   recovery.Situation `json:"situation"` // what a person should see and can do
	Meta        Meta               `json:"meta"`
}

// Attempt is a model call in progress.
type Attempt struct {
	ID       uint64    `json:"id"`
	Model    string    `json:"model"`
	Retry    int       `json:"retry"` // n of attempt n/m; 0 = the first
	Of       int       `json:"of"`
	BeganAt  time.Time `json:"beganAt"`
	CutShort *CutShort `json:"cutShort"` // offer it once the call is slow
}

// CutShort is what a person may do instead of waiting longer for a model call.
type CutShort struct {
	ID      string            `json:"id"` // Answer.Suggestion
	Actions []recovery.Button `json:"actions"`
}

// Answered is the model's last answer.
type Answered struct {
	Text      string `json:"text"`
	Model     string `json:"model"`     // the one that wrote it
	Partial   bool   `json:"partial"`   // its attempt failed or is in progress
	Truncated bool   `json:"truncated"` // it was cut at the output limit
}

// Meta is what is said about a run besides its content.
type Meta struct {
	// RecoverySuggestion is what a person may choose from; nil = none is open.
	RecoverySuggestion *recovery.Suggestion `json:"recoverySuggestion"`
}

// Run returns the state of a run. Error: ErrNotFound.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	var run Run
	err := c.do(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(id), nil, nil, &run)
	return run, err
}
