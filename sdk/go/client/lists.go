package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Listed is a run in a list.
type Listed struct {
	ID             string           `json:"id"`
	Session        string           `json:"session"`
	Title          string           `json:"title"`
	Model          string           `json:"model"`
	Status         recovery.Status  `json:"status"`
	WaitingFor     recovery.WaitFor `json:"waitingFor"`
	WaitingUntil   time.Time        `json:"waitingUntil"`
	SuggestionOpen bool             `json:"suggestionOpen"`
	StartedAt      time.Time        `json:"startedAt"`
	UpdatedAt      time.Time        `json:"updatedAt"`
	Seq            uint64           `json:"seq"`
}

// Query says which runs to list; empty fields do not restrict.
type Query struct {
	Status  recovery.Status
	Session string
	Waiting bool
}

// Asked is a run that waits for a person.
type Asked struct {
	Run        string              `json:"run"`
	Session    string              `json:"session"`
	Title      string              `json:"title"`
	Since      time.Time           `json:"since"`
	Suggestion recovery.Suggestion `json:"suggestion"`
}

// Model is a model that may be chosen.
type Model struct {
	Name          string             `json:"name"`
	Provider      string             `json:"provider"`
	Ready         bool               `json:"ready"`
	Default       bool               `json:"default"`
	ContextTokens int64              `json:"contextTokens"`
	Cooling       *recovery.Cooldown `json:"cooling"`
}

// Plugin is a recovery plugin and how it is.
type Plugin struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	State     string `json:"state"`
	LastError string `json:"lastError"`
	Shadow    bool   `json:"shadow"`
}

// Runs lists runs, newest first, page by page as they are asked for.
func (c *Client) Runs(ctx context.Context, q Query) iter.Seq2[Listed, error] {
	values := url.Values{}
	if q.Status != "" {
		values.Set("status", string(q.Status))
	}
	if q.Session != "" {
		values.Set("session", q.Session)
	}
	if q.Waiting {
		values.Set("waiting", strconv.FormatBool(true))
	}
	return pages(func(before string) ([]Listed, string, error) {
		var page struct {
			Runs []Listed
			Next string
		}
		err := c.page(ctx, "/v1/runs", values, before, &page)
		return page.Runs, page.Next, err
	})
}

// Suggestions lists the suggestions that are open, newest first.
func (c *Client) Suggestions(ctx context.Context) iter.Seq2[Asked, error] {
	return pages(func(before string) ([]Asked, string, error) {
		var page struct {
			Suggestions []Asked
			Next        string
		}
		err := c.page(ctx, "/v1/suggestions", url.Values{}, before, &page)
		return page.Suggestions, page.Next, err
	})
}

// Models lists the models that may be chosen.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	var out struct{ Models []Model }
	err := c.do(ctx, http.MethodGet, "/v1/models", nil, nil, &out)
	return out.Models, err
}

// Plugins lists the recovery plugins.
func (c *Client) Plugins(ctx context.Context) ([]Plugin, error) {
	var out struct{ Plugins []Plugin }
	err := c.do(ctx, http.MethodGet, "/v1/plugins", nil, nil, &out)
	return out.Plugins, err
}

func (c *Client) page(ctx context.Context, path string, values url.Values, before string, out any) error {
	if before != "" {
		values.Set("before", before)
	}
	return c.do(ctx, http.MethodGet, path+"?"+values.Encode(), nil, nil, out)
}

// pages yields what is on one page after another.
func pages[T any](get func(before string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for before := ""; ; {
			list, next, err := get(before)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range list {
				if !yield(item, nil) {
					return
				}
			}
			if before = next; next == "" {
				return
			}
		}
	}
}
