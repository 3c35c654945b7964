package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/mulligan-run/mulligan/failure"
)

// KindListed is a kind that a failure may be corrected to.
type KindListed struct {
	Kind      failure.Kind `json:"kind"`
	Retryable bool         `json:"retryable"` // such a request may be sent again unchanged
}

// Lesson is the result of a correction.
type Lesson struct {
	Before  failure.Kind `json:"before"`
	After   failure.Kind `json:"after"`   // the kind of such failures from now on
	Row     string       `json:"row"`     // the one that was written; "" if nothing had to change
	File    string       `json:"file"`    // its path on the gateway's computer
	Warning string       `json:"warning"` // what is dangerous about the correction, or ""
}

// Kinds lists the kinds that a failure may be corrected to: none if the gateway takes no
// corrections.
func (c *Client) Kinds(ctx context.Context) ([]KindListed, error) {
	var out struct{ Kinds []KindListed }
	err := c.do(ctx, http.MethodGet, "/v1/kinds", nil, nil, &out)
	return out.Kinds, err
}

// Learn makes failures like a run's error, which is of kind was, be of another kind from now
// on. If that is not possible, the error is a Problem with status 409 that says why.
func (c *Client) Learn(ctx context.Context, run string, was, kind failure.Kind) (Lesson, error) {
	var out Lesson
	in := struct {
		Kind failure.Kind `json:"kind"`
		Was  failure.Kind `json:"was"`
	}{kind, was}
	err := c.do(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(run)+"/learn", nil, in, &out)
	return out, err
}
