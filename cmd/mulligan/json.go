package main

import (
	"encoding/json"
	"io"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// jsonTo writes values as JSON, one a line, as they would be written by hand: & < > are
// nothing special outside a web page. On a terminal what could steer it is escaped.
func jsonTo(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(jsonOn(w, isTerminal(w)))
	encoder.SetEscapeHTML(false)
	return encoder
}

// jsonOn is w for JSON; live says that it comes to a terminal.
func jsonOn(w io.Writer, live bool) io.Writer {
	if live {
		return terminal.JSON(w)
	}
	return w
}
