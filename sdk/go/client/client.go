package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// maxBody is how much of a response is read, in bytes.
const maxBody = 64 << 20

// Client speaks to one gateway. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	http  *http.Client
	token func() (string, error)
}

// Option configures a Client.
type Option func(*Client)

// WithToken sends the gateway's token.
func WithToken(token string) Option {
	return WithTokenFrom(func() (string, error) { return token, nil })
}

// WithTokenFrom asks for the token before every request, so that it may change.
func WithTokenFrom(token func() (string, error)) Option {
	return func(c *Client) { c.token = token }
}

// WithHTTPClient replaces the HTTP client. It must not have a Timeout: following a run
// takes as long as the run.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) { c.http = h }
}

// New makes a Client of the gateway at base, for example "http://127.0.0.1:8484".
func New(base string, options ...Option) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a gateway: write for example http://127.0.0.1:8484", base)
	}
	c := &Client{base: u, http: &http.Client{}, token: func() (string, error) { return "", nil }}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// Start is the request to begin a run. Empty fields get the gateway's defaults.
type Start struct {
	// Key is an idempotency key: requests with the same key return the same run.
	Key string `json:"-"`

	Prompt      string            `json:"prompt,omitempty"`
	Messages    []llm.Message     `json:"messages,omitempty"`
	BranchOf    string            `json:"branchOf,omitempty"` // a run that has ended: the new one begins with what was said in it
	Model       string            `json:"model,omitempty"`
	Fallbacks   []string          `json:"fallbacks,omitempty"`
	System      string            `json:"system,omitempty"`
	Session     string            `json:"session,omitempty"`
	SessionKey  string            `json:"sessionKey,omitempty"` // the caller's name for the conversation; passed to plugins
	AgentID     string            `json:"agentId,omitempty"`    // the caller's name for the agent; passed to plugins
	Labels      recovery.Labels   `json:"labels,omitempty"`     // for finding the run in lists
	Needs       recovery.Labels   `json:"needs,omitempty"`      // labels that a machine must have to drive it
	AutoRecover *bool             `json:"autoRecover,omitempty"`
	MaxRetries  *int              `json:"maxRetries,omitempty"`
	MaxRounds   *int              `json:"maxRounds,omitempty"` // model calls that may ask for tools; 0 = no limit
	Timeouts    recovery.Settings `json:"timeouts,omitempty"`
	Budget      *recovery.Budget  `json:"budget,omitempty"`
	Tools       []Tool            `json:"tools,omitempty"` // carried out by this program: see FollowWithTools
}

// Answer is a person's answer to a suggestion or a live wait, or cuts a model call short.
type Answer struct {
	Suggestion string `json:"suggestion,omitempty"` // its id, or the id of the wait or call; "" = the open suggestion or wait
	Action     string `json:"action"`               // an action's id or kind
	Model      string `json:"model,omitempty"`
}

// Start begins a run and returns its id. If the gateway is busy, it retries for up to 30 s
// with the same idempotency key, which it makes if there is none.
func (c *Client) Start(ctx context.Context, s Start) (string, error) {
	header := http.Header{}
	header.Set("Idempotency-Key", cmp.Or(s.Key, rand.Text()))
	var run struct{ ID string }
	err := c.do(ctx, http.MethodPost, "/v1/runs", header, s, &run)
	return run.ID, err
}

// Recover answers a run's suggestion, or cuts its wait short. Errors:
// recovery.ErrAnswered, recovery.ErrExpired, recovery.ErrNoSuchAction, ErrNotFound.
func (c *Client) Recover(ctx context.Context, run string, a Answer) error {
	return c.do(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(run)+"/recover", nil, a, nil)
}

// Cancel ends a run.
func (c *Client) Cancel(ctx context.Context, run string) error {
	return c.do(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(run)+"/cancel", nil, struct{}{}, nil)
}

// do makes a request, retrying while the gateway is busy, and decodes the response into out,
// unless that is nil.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, in, out any) error {
	passes := isBusy
	if header.Get("Idempotency-Key") != "" {
		passes = isBusyOrDown
	}
	return patiently(ctx, passes, func() error { return c.once(ctx, method, path, header, in, out) })
}

// once makes a request and decodes the response into out, unless that is nil.
func (c *Client) once(ctx context.Context, method, path string, header http.Header, in, out any) error {
	resp, err := c.send(ctx, method, path, header, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(out); err != nil {
		return fmt.Errorf("%s %s: the answer cannot be read: %w", method, path, err)
	}
	return nil
}

// send makes a request; a response that is not a success is an error.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, body)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header.Clone()
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	token, err := c.token()
	if err != nil {
		return nil, fmt.Errorf("the gateway's token: %w", err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the gateway at %s does not answer (is `mulligan serve` running?): %w", c.base, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

// ErrNotFound says that there is no such run.
var ErrNotFound = errors.New("there is no such run")

// Problem is a response that is not a success (RFC 9457).
type Problem struct {
	Status int     `json:"status"`
	Title  string  `json:"title"`
	Detail string  `json:"detail"`
	Fields []Field `json:"errors"`

	RetryAfter time.Duration `json:"-"` // when to try again; 0 = not given
}

// Field is an invalid field of a request.
type Field struct {
	Location string `json:"location"` // "body.model"
	Message  string `json:"message"`
}

// Error is the detail, with the invalid fields.
func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = fmt.Sprintf("%d %s", p.Status, p.Title)
	}
	for _, f := range p.Fields {
		text += "; " + f.Location + ": " + f.Message
	}
	return text
}

// Is reports whether the problem stands for target.
func (p *Problem) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return p.Status == http.StatusNotFound
	case recovery.ErrAnswered:
		return p.Status == http.StatusConflict
	case recovery.ErrExpired:
		return p.Status == http.StatusGone
	case recovery.ErrNoSuchAction:
		return p.Status == http.StatusUnprocessableEntity
	}
	return false
}

func problem(resp *http.Response) error {
	const enough = 64 << 10
	p := &Problem{}
	data, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	if err != nil || json.Unmarshal(data, p) != nil || p.Status == 0 {
		p = &Problem{Title: http.StatusText(resp.StatusCode)}
	}
	p.Status = resp.StatusCode
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(min(seconds, maxRetryAfter)) * time.Second
	}
	return p
}
