package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/failure"
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
	Approval       bool             `json:"approval,omitempty"` // nothing has failed: the suggestion asks to approve a tool call
	Kind           failure.Kind     `json:"kind"`               // of its last failure, even after recovery
	Problem        string           `json:"problem"`            // that failure's title, and on a second line its message
	DecidedBy      string           `json:"decidedBy"`          // the plugin that decided last; "person": somebody answered
	Attempts       int              `json:"attempts"`           // model calls begun
	Failed         int              `json:"failedAttempts"`
	Tokens         int64            `json:"tokens"`
	Wasted         int64            `json:"wastedTokens"` // by failed attempts
	Microdollars   int64            `json:"microdollars"`
	WastedMoney    int64            `json:"wastedMicrodollars"`
	StartedAt      time.Time        `json:"startedAt"`
	UpdatedAt      time.Time        `json:"updatedAt"`
	Seq            uint64           `json:"seq"`
}

// Query says which runs to list; empty fields do not restrict.
type Query struct {
	Status    recovery.Status
	Session   string
	Model     string
	Kind      failure.Kind // of the last failure
	DecidedBy string       // a plugin, or "person"
	Labels    recovery.Labels
	Text      string // in the title or in the failure
	Since     time.Time
	Until     time.Time
	Waiting   bool
	NeedsYou  bool // a suggestion is open
	Oldest    bool // the oldest first
}

func (q Query) values() url.Values {
	values := url.Values{}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("status", string(q.Status))
	set("session", q.Session)
	set("model", q.Model)
	set("kind", string(q.Kind))
	set("decidedBy", q.DecidedBy)
	set("text", q.Text)
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			values.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	for name, on := range map[string]bool{"waiting": q.Waiting, "needsYou": q.NeedsYou} {
		if on {
			values.Set(name, "true")
		}
	}
	if q.Oldest {
		values.Set("order", "oldest")
	}
	for key, value := range q.Labels {
		values.Add("label", key+"="+value)
	}
	return values
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
	NoImages      bool               `json:"noImages"` // it is known not to accept pictures
	Cooling       *recovery.Cooldown `json:"cooling"`
}

// Runs lists runs; it fetches pages as they are needed.
func (c *Client) Runs(ctx context.Context, q Query) iter.Seq2[Listed, error] {
	values := q.values()
	return pages(func(before string) ([]Listed, string, error) {
		var page struct {
			Runs []Listed
			Next string
		}
		err := c.page(ctx, "/v1/runs", values, before, &page)
		return page.Runs, page.Next, err
	})
}

// Suggestions lists the open suggestions, newest first.
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

func (c *Client) page(ctx context.Context, path string, values url.Values, before string, out any) error {
	if before != "" {
		values.Set("before", before)
	}
	return c.do(ctx, http.MethodGet, path+"?"+values.Encode(), nil, nil, out)
}

// pages yields the entries of one page after another.
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
