package observe

import (
	"io"
	"time"
)

// form also looks at the first byte if the head may be wrong.
func (t *exchange) form() form {
	form := t.observation.form()
	if form == formStream {
		return formOf(t.answer.peek())
	}
	return form
}

// readBody reads what comes of an error body within a short time.
func (t *exchange) readBody(form form) []byte {
	if form == formRedirect {
		return nil
	}
	timer := time.AfterFunc(errorBodyTime, func() { t.cancel(errFinished) })
	defer timer.Stop()
	const most = maxErrorBody
	raw, err := io.ReadAll(io.LimitReader(&t.answer, most))
	return t.secrets.body(raw, err != nil || len(raw) == most)
}

// capped reads a limited number of bytes, and reports if there are more.
type capped struct {
	src  io.Reader
	left int64
	over bool // the source has ended
	head []byte
	err  error // of a peek

	first [1]byte
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
	c.over = err == io.EOF
	return n, err
}

// peek returns the first byte, or 0 if there is none. Read then gives that byte, or the error,
// again.
func (c *capped) peek() byte {
	n, err := io.ReadFull(c, c.first[:])
	c.head, c.err = c.first[:n], err
	return c.first[0]
}
