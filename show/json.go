package show

import (
	"encoding/json"
	"io"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// JSON writes values as JSON, one per line. It does not escape & < >, which mean nothing outside
// a web page. On a terminal it escapes what could control the terminal.
func JSON(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(JSONOn(w, IsTerminal(w)))
	encoder.SetEscapeHTML(false)
	return encoder
}

// JSONOn returns a writer to w for JSON; live says that w is a terminal.
func JSONOn(w io.Writer, live bool) io.Writer {
	if live {
		return terminal.JSON(w)
	}
	return w
}
