package observe

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/sse"
	"github.com/mulligan-run/mulligan/wire"
)

// unstream turns a document into deltas; ok says whether it was a whole answer of the wire, which
// an error report is not. The error is for an answer that breaks its wire's rules.
func (j *observation) unstream(document []byte) (deltas []llm.Delta, ok bool, err error) {
	decoder, can := j.decoder.(wire.Unstreamer)
	if !can || !json.Valid(document) || reportsError(document) {
		return nil, false, nil
	}
	events, err := decoder.Unstream(document)
	if err != nil {
		return nil, false, nil //nolint:nilerr // it is something else
	}
	for _, event := range events {
		if deltas, err = j.decode(sse.Event{Data: event}, deltas); err != nil {
			return deltas, true, err
		}
	}
	return deltas, j.decoder.State() != wire.Open, nil
}

// document reads an answer that is one document.
func (t *exchange) document() error {
	document, err := io.ReadAll(&trickle{src: &t.answer, tell: func() bool { return t.tell(nil) }})
	switch {
	case errors.Is(err, errUnheard):
		return nil
	case t.outer.Err() != nil:
		return t.outer.Err()
	case err != nil:
		return t.fail(broken(err), err, nil)
	}
	deltas, ok, err := t.unstream(document)
	switch {
	case !ok:
		return t.noStream(formJSON, t.secrets.body(document[:min(len(document), maxErrorBody)], len(document) > maxErrorBody))
	case err == nil && !t.allOf(document):
		return nil
	case len(deltas) > 0 && !t.tell(deltas):
		return nil
	case err != nil:
		return err
	}
	return t.finish()
}
