package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// refusal is why a Guard refuses a request: the answer's code and text, and when to retry
// (429, 503; whole seconds). It quotes nothing from the request.
type refusal struct {
	code  int
	why   string
	after time.Duration
}

// broke is what a client is told if there is no better text.
const broke = "something broke in the gateway; its log says more"

// Error is what the client is told.
func (r refusal) Error() string { return r.why }

// refuse answers with a problem document.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var said refusal
	if !errors.As(err, &said) {
		said = refusal{code: http.StatusInternalServerError, why: broke}
		g.cfg.Logger.Error("a request failed", "err", err)
	}
	switch said.code {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", g.allowed(r))
	}
	if said.after > 0 {
		w.Header().Set("Retry-After", seconds(said.after))
	}
	g.cfg.Logger.Debug("a request was refused", "code", said.code, "why", said.why, "from", r.RemoteAddr)
	writeProblem(w, said.code, said.why)
}

// allowed are the methods that a path takes. It asks the API with a method that no route has.
func (g *Guard) allowed(r *http.Request) string {
	const read = "GET, HEAD"
	switch path := r.URL.Path; {
	case path == loginPath || path == logoutPath:
		return http.MethodPost
	case !isAPI(path) && path != "/healthz" && path != "/readyz":
		return read
	}
	ask := r.Clone(r.Context())
	ask.Method, ask.Body = http.MethodOptions, http.NoBody
	said := &codeOnly{header: http.Header{}}
	g.api.ServeHTTP(said, ask)
	return cmp.Or(said.header.Get("Allow"), read)
}

// seconds is a duration in the form of Retry-After.
func seconds(after time.Duration) string {
	return strconv.FormatInt(int64(math.Ceil(after.Seconds())), 10)
}

// writeProblem answers with a problem document; detail is what the client is told.
func writeProblem(w http.ResponseWriter, code int, detail string) {
	writeJSON(w, code, "application/problem+json", huma.ErrorModel{Status: code, Title: http.StatusText(code), Detail: detail})
}

// writeJSON writes an answer. The only error it can meet is that the client is gone. A
// 503 says to retry soon.
func writeJSON(w http.ResponseWriter, code int, kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		code, data = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", kind)
	if code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", seconds(soon))
	}
	w.WriteHeader(code)
	_, _ = w.Write(append(data, '\n'))
}
