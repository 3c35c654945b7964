package show

import (
	"encoding/json"
	"io"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// JSON writes values as JSON, one a line, as they would be written by hand: & < > are
// nothing special outside a web page. On a terminal what could steer it is escaped.
func JSON(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(JSONOn(w, IsTerminal(w)))
	encoder.SetEscapeHTML(false)
	return encoder
}

// JSONOn is w for JSON; live says that it comes to a terminal.
func JSONOn(w io.Writer, live bool) io.Writer {
	if live {
		return terminal.JSON(w)
	}
	return w
}
