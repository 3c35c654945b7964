package observe

import (
	"encoding/json"
	"io"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// checkHead judges status, content type and first byte; nil means that events may follow.
func (t *talk) checkHead() error {
	status := t.response.StatusCode
	switch {
	case status >= 300 && status < 400:
		return t.fail(recovery.KindMisconfigured, errRedirect, nil)
	case status < 200 || status >= 400:
		return t.fail("", errRefused, t.readBody())
	}
	switch kind := t.contentType(); {
	case kind == "text/html", kind == "application/xhtml+xml":
		return t.fail("", errNoStream, t.readBody())
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return t.whole(t.readBody())
	}
	return t.checkFirst()
}

// checkFirst looks at the first byte of an answer that claims to be a stream, or
// does not say what it is. No event begins with these bytes.
func (t *talk) checkFirst() error {
	switch t.answer.peek() {
	case '{', '[':
		return t.whole(t.readBody())
	case '<':
		return t.fail(recovery.KindUnreachable, errNoStream, t.readBody())
	}
	return nil
}

// whole judges a JSON answer in place of a stream.
func (t *talk) whole(body []byte) error {
	if reportsError(body) {
		return t.fail("", errRefused, body)
	}
	if len(body) == 0 {
		return t.fail(recovery.KindEmptyResponse, errNothing, nil)
	}
	return t.fail(recovery.KindMalformedResponse, errNoStream, nil)
}

// reportsError reports whether body is a JSON object that says it is an error, or a
// list with one in it.
func reportsError(body []byte) bool {
	type document struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	var list []document
	if json.Unmarshal(body, &list) != nil {
		list = make([]document, 1)
		_ = json.Unmarshal(body, &list[0])
	}
	return slices.ContainsFunc(list, func(d document) bool {
		return d.Type == "error" || len(d.Error) > 0 && string(d.Error) != "null"
	})
}

func (t *talk) contentType() string {
	kind, _, err := mime.ParseMediaType(t.response.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// readBody reads what there is of an error body, soon.
func (t *talk) readBody() []byte {
	timer := time.AfterFunc(errorBodyTime, func() { t.cancel(errFinished) })
	defer timer.Stop()
	most := int64(maxErrorBody + t.ask.Secrets.longest)
	raw, err := io.ReadAll(io.LimitReader(t.answer, most))
	return t.ask.Secrets.body(raw, err != nil || int64(len(raw)) == most)
}

// capped reads at most so many bytes, and says so when there are more.
type capped struct {
	src  io.Reader
	left int64
	head []byte
	err  error // met while peeking
}

func (c *capped) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	if c.left <= 0 {
		return 0, errAnswerTooLarge
	}
	n, err := c.src.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// peek returns the first byte, or 0 if there is none. Read gives it, or the error
// that stood in its place, again.
func (c *capped) peek() byte {
	first := make([]byte, 1)
	n, err := io.ReadFull(c, first)
	c.head, c.err = first[:n], err
	return first[0]
}
