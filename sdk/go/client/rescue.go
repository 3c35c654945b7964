package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// Rescue gives what happened in a run, in retrospect. With texts it has what was written in the
// run; without, only how long that is.
func (c *Client) Rescue(ctx context.Context, id string, texts bool) (rescue.Rescue, error) {
	path := "/v1/runs/" + url.PathEscape(id) + "/rescue"
	if texts {
		path += "?texts=true"
	}
	var r rescue.Rescue
	err := c.do(ctx, http.MethodGet, path, nil, nil, &r)
	return r, err
}
