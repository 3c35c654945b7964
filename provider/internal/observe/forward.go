package observe

import (
	"context"
	"io"
	"net/http"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/redact"
)

// Forward sends another program's request to the provider, and gives the answer as it comes,
// without secrets, so that its length is unknown. The end of the request's context also ends the
// answer. The error is a failure.
func (c *Client) Forward(request *http.Request, secrets *Secrets) (*http.Response, error) {
	secrets.known.Add(c.way.secrets()...)
	t := &exchange{client: c, outer: request.Context(), observation: observation{
		provider: c.provider, secrets: secrets, way: c.way, connect: c.connectTimeout(Ask{}),
		phase: failure.PhaseBeforeConnect, local: c.Loopback(), classify: c.classify,
	}}
	t.ctx, t.cancel = context.WithCancelCause(request.Context())
	request.GetBody = nil // see once
	if err := t.do(request.WithContext(t.traced())); err != nil {
		t.cancel(errFinished)
		return nil, err
	}
	if t.observation.form() == formRedirect {
		t.response.Body.Close()
		t.cancel(errFinished)
		return nil, t.noStream(formRedirect, nil)
	}
	answer := t.response
	answer.Header = secrets.Header(answer.Header)
	answer.Header.Del("Content-Length")
	answer.ContentLength = -1
	answer.Body = &forwarded{src: answer.Body, hidden: secrets.known.Stream(), end: func() { t.cancel(errFinished) }}
	return answer, nil
}

// forwarded is the body of an answer, without secrets.
type forwarded struct {
	src    io.ReadCloser
	hidden *redact.Stream
	ready  string
	err    error
	end    func()
}

// Read gives what has come, once it cannot be the beginning of a secret.
func (f *forwarded) Read(p []byte) (int, error) {
	for f.ready == "" && f.err == nil {
		n, err := f.src.Read(p)
		f.ready, f.err = f.hidden.Push(string(p[:n])), err
		if err != nil {
			f.ready += f.hidden.Flush()
		}
	}
	if f.ready == "" {
		return 0, f.err
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// Close breaks the answer off if it has not ended.
func (f *forwarded) Close() error {
	err := f.src.Close()
	f.end()
	return err
}
