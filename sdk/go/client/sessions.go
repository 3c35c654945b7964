package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/mulligan-run/mulligan/recovery"
)

// Defaults are what the runs of a session start with; what is left out is the gateway's.
type Defaults struct {
	Model       string            `json:"model,omitempty"`
	AutoRecover *bool             `json:"autoRecover,omitempty"`
	Timeouts    recovery.Settings `json:"timeouts,omitempty"`
}

// Session is a conversation.
type Session struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"` // what a person called it; "" where nobody did
	Defaults Defaults `json:"defaults"`
	Runs     []Listed `json:"runs"` // the newest 50, newest first; Client.Runs lists them all
}

// SessionListed is a conversation in a list.
type SessionListed struct {
	ID    string `json:"id"`
	Title string `json:"title"` // what a person called it, or the beginning of what was said first
	Runs  int    `json:"runs"`  // how many it has
	Last  Listed `json:"last"`  // the newest of them
}

// Sessions lists the conversations, the one with the newest run first: at most limit, from
// 1 to 500.
func (c *Client) Sessions(ctx context.Context, limit int) ([]SessionListed, error) {
	var out struct{ Sessions []SessionListed }
	err := c.do(ctx, http.MethodGet, "/v1/sessions?limit="+strconv.Itoa(limit), nil, nil, &out)
	return out.Sessions, err
}

// Session gives a conversation: its defaults and its runs. One that nobody has heard of
// has neither.
func (c *Client) Session(ctx context.Context, id string) (Session, error) {
	var s Session
	err := c.do(ctx, http.MethodGet, sessionPath(id), nil, nil, &s)
	return s, err
}

// SetSession sets all of what a conversation's runs start with; a new name begins one. A
// Problem names the default that is wrong.
func (c *Client) SetSession(ctx context.Context, id string, d Defaults) (Session, error) {
	var s Session
	err := c.do(ctx, http.MethodPut, sessionPath(id), nil, d, &s)
	return s, err
}

// SetSessionTitle gives a conversation a title: one line of at most 80 characters. With "" it is
// called as its first run is.
func (c *Client) SetSessionTitle(ctx context.Context, id, title string) error {
	return c.do(ctx, http.MethodPut, sessionPath(id)+"/title", nil, map[string]string{"title": title}, nil)
}

// DeleteSession deletes a conversation for good, with all that is kept of its runs. A Problem with
// the status 409 says that one of them has not ended.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, sessionPath(id), nil, nil, nil)
}

func sessionPath(id string) string { return "/v1/sessions/" + url.PathEscape(id) }
