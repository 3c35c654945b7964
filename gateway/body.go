package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"
	"unicode/utf8"
)

// limitBodyTime limits the time for a body to arrive, even an unwanted one, because the server
// keeps reading after a refusal. A connection without deadlines, such as a test's
// recorder, has no limit.
func (g *Guard) limitBodyTime(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.cfg.Limits.BodyTime))
	}
}

// readBody reads a write's whole body and checks it, so that later decoders all read the
// same from its JSON (S06, S12, S34). Only JSON is accepted, because a form on another
// page can send anything else. A write without a body needs no Content-Type.
func (g *Guard) readBody(w http.ResponseWriter, r *http.Request) error {
	if !isWrite(r.Method) {
		return nil
	}
	kind := r.Header.Get("Content-Type")
	if kind == "" && r.ContentLength == 0 {
		return nil
	}
	name, _, err := mime.ParseMediaType(kind) // in lower case
	if err != nil || name != "application/json" {
		return refusal{code: http.StatusUnsupportedMediaType, why: "send Content-Type: application/json"}
	}
	r.Header.Set("Content-Type", name)
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.cfg.Limits.BodyBytes))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return refusal{code: http.StatusRequestEntityTooLarge, why: "the body is larger than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refusal{code: http.StatusRequestTimeout, why: "the body did not arrive in time"}
	}
	if err != nil {
		return refusal{code: http.StatusBadRequest, why: "the body is not complete"}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // see limitBodyTime
	if err := checkJSON(data, g.cfg.Limits.JSONDepth); err != nil {
		return refusal{code: http.StatusBadRequest, why: err.Error()}
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return nil
}

// maxNumber is the length of the longest number, in bytes.
const maxNumber = 64

// level is an open object or array; keys is nil in an array.
type level struct {
	keys  map[string]bool
	value bool // the next token in an object is a value, not a key
}

// checkJSON refuses JSON that decoders disagree about or fail on: duplicate keys in an
// object (one reader takes the first, another the last), numbers that no float64 can hold,
// text that is not UTF-8, and nesting deeper than depth. It ignores syntax errors, because
// the decoder's message about them is better.
func checkJSON(data []byte, depth int) error {
	if !utf8.Valid(data) {
		return errors.New("the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return nil //nolint:nilerr // the end, or a syntax error: see above
		}
		if err := checkToken(token, open); err != nil {
			return err
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		if len(open) > depth {
			return errors.New("the body is nested deeper than " + strconv.Itoa(depth) + " levels")
		}
	}
}

func checkToken(token json.Token, open []level) error {
	if len(open) > 0 && token != json.Delim('}') && token != json.Delim(']') {
		in := &open[len(open)-1]
		if key, ok := token.(string); ok && in.keys != nil && !in.value {
			if in.keys[key] {
				return errors.New("a key is twice in one object")
			}
			in.keys[key] = true
		}
		in.value = !in.value
	}
	if n, ok := token.(json.Number); ok {
		if _, err := n.Float64(); err != nil || len(n) > maxNumber {
			return errors.New("a number is too large or too long")
		}
	}
	return nil
}
