package observe

import (
	"net/http"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// Ask is one request to send.
type Ask struct {
	Model   string // full name
	Path    string // after the base URL
	Header  http.Header
	Body    []byte
	Secrets *Secrets
	Decoder wire.Decoder
	Repairs []llm.Repair  // what was changed in the transcript
	Connect time.Duration // how long to wait for a connection; 0 = the Client's limit, negative = no limit
	Frames  bool          // also give the answer as it comes

	OnHeaders func(llm.Headers) // see llm.Request; nil = nobody wants to know
}

// Path is the path after base for an endpoint of an API version, which base may contain already.
func Path(base, version, endpoint string) string {
	if strings.HasSuffix(strings.TrimRight(base, "/ "), version) {
		return endpoint
	}
	return version + endpoint
}
