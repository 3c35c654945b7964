package main

import (
	"encoding/json"
	"io"
)

// jsonTo writes values as JSON, one a line, as they would be written by hand: & < > are
// nothing special outside a web page.
func jsonTo(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}
