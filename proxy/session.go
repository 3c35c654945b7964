package proxy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/llm"
)

// maxSession bounds a session's name, in bytes.
const maxSession = 512

// session is the caller's name for its conversation: in our header, in its own, or in the body;
// otherwise it is derived from the beginning of the conversation.
func session(h http.Header, a asked) string {
	named := cmp.Or(
		h.Get("X-Mulligan-Session"),
		h.Get("X-Claude-Code-Session-Id"), h.Get("Session-Id"), h.Get("Thread-Id"),
		a.Session,
	)
	if named != "" && len(named) <= maxSession && utf8.ValidString(named) {
		return named
	}
	sum := sha256.New()
	sum.Write([]byte(a.Request.System))
	for _, m := range a.Request.Messages {
		if m.Role == llm.RoleUser {
			sum.Write([]byte{0})
			sum.Write([]byte(m.Text()))
			break
		}
	}
	return "c" + hex.EncodeToString(sum.Sum(nil)[:16])
}
