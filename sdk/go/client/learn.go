package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/mulligan-run/mulligan/failure"
)

// KindListed is a kind that a failure may be called by instead of its own.
type KindListed struct {
	Kind      failure.Kind `json:"kind"`
	Retryable bool         `json:"retryable"` // what failed so may be sent again as it is
}

// Lesson is what became of a correction.
type Lesson struct {
	Before  failure.Kind `json:"before"`
	After   failure.Kind `json:"after"`   // what such failures are from the next one on
	Row     string       `json:"row"`     // that was written; "" where that is so already
	File    string       `json:"file"`    // where, on the gateway's computer
	Warning string       `json:"warning"` // what is dangerous about it, or ""
}

// Kinds lists the kinds that a failure may be called by: none where the gateway learns nothing.
func (c *Client) Kinds(ctx context.Context) ([]KindListed, error) {
	var out struct{ Kinds []KindListed }
	err := c.do(ctx, http.MethodGet, "/v1/kinds", nil, nil, &out)
	return out.Kinds, err
}

// Learn calls failures like a run's error, which is of kind was, by another kind from the next
// one on. Where nothing is learned its error has status 409, and says why.
func (c *Client) Learn(ctx context.Context, run string, was, kind failure.Kind) (Lesson, error) {
	var out Lesson
	in := struct {
		Kind failure.Kind `json:"kind"`
		Was  failure.Kind `json:"was"`
	}{kind, was}
	err := c.do(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(run)+"/learn", nil, in, &out)
	return out, err
}
