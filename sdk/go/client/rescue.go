package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// Rescue returns a run's history. With texts it contains what was written in the run, otherwise
// only the lengths.
func (c *Client) Rescue(ctx context.Context, id string, texts bool) (rescue.Rescue, error) {
	path := "/v1/runs/" + url.PathEscape(id) + "/rescue"
	if texts {
		path += "?texts=true"
	}
	var r rescue.Rescue
	err := c.do(ctx, http.MethodGet, path, nil, nil, &r)
	return r, err
}

// WhatIf returns what would have been decided about a run's failures under a change. With texts it
// contains the plugins' reasons.
func (c *Client) WhatIf(ctx context.Context, id string, change rescue.Change, texts bool) (rescue.WhatIf, error) {
	query := url.Values{}
	if change.AutoRecover != nil {
		query.Set("autoRecover", strconv.FormatBool(*change.AutoRecover))
	}
	if change.MaxRetries != nil {
		query.Set("maxRetries", strconv.Itoa(*change.MaxRetries))
	}
	if change.Plugin != "" {
		query.Set("plugin", change.Plugin)
	}
	if texts {
		query.Set("texts", "true")
	}
	var w rescue.WhatIf
	err := c.do(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(id)+"/what-if?"+query.Encode(), nil, nil, &w)
	return w, err
}
