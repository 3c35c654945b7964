package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/mulligan-run/mulligan/recovery"
)

// Defaults are what a session's runs start with; empty fields get the gateway's
// defaults.
type Defaults struct {
	Model       string            `json:"model,omitempty"`
	AutoRecover *bool             `json:"autoRecover,omitempty"`
	Timeouts    recovery.Settings `json:"timeouts,omitempty"`
}

// Session is a conversation.
type Session struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"` // given by a person; "" = none
	Defaults Defaults `json:"defaults"`
	Runs     []Listed `json:"runs"` // the newest 50, newest first; Client.Runs lists all
}

// SessionListed is a conversation in a list.
type SessionListed struct {
	ID    string `json:"id"`
	Title string `json:"title"` // given by a person, or the beginning of the first message
	Runs  int    `json:"runs"`  // the number of its runs
	Last  Listed `json:"last"`  // the newest run
}

// Sessions lists at most limit (1 to 500) conversations, the one with the newest run
// first.
func (c *Client) Sessions(ctx context.Context, limit int) ([]SessionListed, error) {
	var out struct{ Sessions []SessionListed }
	err := c.do(ctx, http.MethodGet, "/v1/sessions?limit="+strconv.Itoa(limit), nil, nil, &out)
	return out.Sessions, err
}

// Session returns a conversation's defaults and runs. An unknown one has neither.
func (c *Client) Session(ctx context.Context, id string) (Session, error) {
	var s Session
	err := c.do(ctx, http.MethodGet, sessionPath(id), nil, nil, &s)
	return s, err
}

// SetSession replaces all of a conversation's defaults; an unknown id begins a
// conversation. A Problem names the invalid field.
func (c *Client) SetSession(ctx context.Context, id string, d Defaults) (Session, error) {
	var s Session
	err := c.do(ctx, http.MethodPut, sessionPath(id), nil, d, &s)
	return s, err
}

// SetSessionTitle gives a conversation a title: one line of at most 80 characters. "" restores
// the default, which comes from its first run.
func (c *Client) SetSessionTitle(ctx context.Context, id, title string) error {
	return c.do(ctx, http.MethodPut, sessionPath(id)+"/title", nil, map[string]string{"title": title}, nil)
}

// DeleteSession deletes a conversation for good, with everything stored about its runs. A Problem
// with status 409 says that one of them has not ended.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, sessionPath(id), nil, nil, nil)
}

func sessionPath(id string) string { return "/v1/sessions/" + url.PathEscape(id) }
