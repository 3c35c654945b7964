package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// transport connects to a server that runs elsewhere. Its headers are read from the environment
// now, so that a new connection uses new secrets.
func (s Spec) transport() (sdk.Transport, error) {
	headers := http.Header{}
	var missing error
	for name, value := range s.Headers {
		headers.Set(name, variable.ReplaceAllStringFunc(value, func(match string) string {
			key := variable.FindStringSubmatch(match)[1]
			v := os.Getenv(key)
			if v == "" {
				missing = fmt.Errorf("its header %s needs the variable %s, which is not set", name, key)
			}
			return v
		}))
	}
	if missing != nil {
		return nil, missing
	}
	base := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
	}
	client := &http.Client{
		Transport: &authorized{base, headers},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("it redirects: write the address where it really is into its url")
		},
	}
	return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// dial makes a connection, as soon as a file descriptor is free for it.
func dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	err = procgroup.Patiently(ctx, func() (err error) {
		conn, err = dialer.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// authorized adds headers, limits answers and records refusals.
type authorized struct {
	base    *http.Transport
	headers http.Header
}

// RoundTrip sends a request.
func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, values := range a.headers {
		req.Header[name] = values
	}
	resp, err := a.base.RoundTrip(req)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			note(req.Context(), refusal{err: fmt.Errorf("it cannot be reached: %w", err), unreachable: true})
		}
		return nil, err
	}
	if resp.StatusCode >= 400 && resp.StatusCode < 500 {
		note(req.Context(), refusal{err: fmt.Errorf("it refused: %s%s", resp.Status, a.hint(resp.StatusCode))})
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &boundedBody{resp.Body, maxMessage}
	}
	return resp, nil
}

// CloseIdleConnections closes idle connections.
func (a *authorized) CloseIdleConnections() { a.base.CloseIdleConnections() }

func (a *authorized) hint(status int) string {
	switch {
	case status != http.StatusUnauthorized && status != http.StatusForbidden:
		return ""
	case len(a.headers) == 0:
		return "; give it a header such as Authorization: Bearer ${TOKEN}"
	}
	return "; see that the variables in its headers hold what it wants"
}

// boundedBody is a body that fails when it becomes too long.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("it sent an answer of more than %d MiB", maxMessage>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// refusal says why a request was certainly not carried out.
type refusal struct {
	err         error
	unreachable bool
}

// refusals keeps the last refusal of a request, which the SDK hides.
type refusals struct {
	mu   sync.Mutex
	last refusal
}

type refusalsKey struct{}

func withRefusals(ctx context.Context) (context.Context, *refusals) {
	r := &refusals{}
	return context.WithValue(ctx, refusalsKey{}, r), r
}

func note(ctx context.Context, why refusal) {
	if r, ok := ctx.Value(refusalsKey{}).(*refusals); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.last = why
	}
}

func (r *refusals) get() refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}
