package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// roots are the parts below /v1/ that only one of the APIs has.
var roots = map[string]*dialect{
	"messages": messages, "complete": messages, "skills": messages,
	"responses": responsesAPI, "conversations": responsesAPI,
	"chat": chat, "completions": chat, "embeddings": chat, "moderations": chat, "audio": chat, "images": chat, "videos": chat,
	"batches": chat, "uploads": chat, "fine_tuning": chat, "vector_stores": chat, "assistants": chat, "threads": chat,
	"containers": chat, "evals": chat, "realtime": chat,
}

// apiOf is the API that a path belongs to, "" for none. A path that several APIs have is decided
// by what only the clients of one send. sure is false if only the kind of the key decides, since
// all sorts of clients send a bearer token.
func apiOf(r *http.Request) (d *dialect, sure bool) {
	if d, _, _ := door(r); d != nil {
		return d, true
	}
	path := r.URL.Path
	if strings.HasPrefix(path, "/v1beta/") || strings.HasPrefix(path, "/upload/v1beta/") {
		return generate, true
	}
	rest, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return nil, false
	}
	root, _, _ := strings.Cut(rest, "/")
	if d := roots[root]; d != nil {
		return d, true
	}
	switch h := r.Header; {
	case h.Get("Anthropic-Version") != "" || h.Get("Anthropic-Beta") != "":
		return messages, true
	case h.Get("X-Goog-Api-Key") != "":
		return generate, true
	case h.Get("X-Api-Key") != "":
		return messages, true
	case h.Get("X-Stainless-Lang") != "": // as Anthropic's clients, which also send their version
		return chat, true
	case h.Get("Authorization") != "":
		return chat, root == "files"
	}
	return nil, false
}

// Serves reports whether a request is for the proxy, if other handlers share its address: a model
// call, or another request to the providers' APIs.
func (p *Proxy) Serves(r *http.Request) bool {
	_, sure := apiOf(r)
	return sure
}

// pathProblem says what is wrong with the form of a request's target, "" if nothing is: no two
// readers may understand it as two different paths.
func pathProblem(r *http.Request) string {
	path := r.URL.EscapedPath()
	lower := strings.ToLower(path)
	decoded := strings.Split(r.URL.Path, "/")
	switch {
	case len(r.RequestURI) > maxTarget:
		return "The path is too long."
	case strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") || strings.Contains(r.URL.Path, "\\"):
		return "The path has a slash that is escaped, which not everybody reads alike."
	case slices.ContainsFunc(decoded[1:max(1, len(decoded)-1)], func(part string) bool { return part == "" }):
		return "The path has an empty part."
	case slices.Contains(decoded, "..") || slices.Contains(decoded, "."):
		return "The path leads upwards."
	case strings.ContainsFunc(r.URL.Path, func(c rune) bool { return c < ' ' || c == 0x7f || c == ';' }):
		return "The path has a character that no path of these APIs has."
	}
	return ""
}

// maxTarget bounds a request's target, in bytes.
const maxTarget = 8 << 10

// modelPaths are the parts of a path before the name of a model.
var modelPaths = []string{"/v1/models/", "/v1beta/models/"}

// modelIn is the model that a path names, "" for none, and the parts before and after it.
func modelIn(path string) (before, model, after string) {
	for _, prefix := range modelPaths {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		if prefix == "/v1beta/models/" {
			if i := strings.LastIndex(rest, ":"); i >= 0 {
				rest, after = rest[:i], rest[i:]
			}
		}
		return prefix, rest, after
	}
	return "", "", ""
}

// named is u with another model in its path, if the path names one.
func named(u *url.URL, model string) *url.URL {
	before, old, after := modelIn(u.Path)
	if old == "" || old == model {
		return u
	}
	changed := *u
	changed.Path = before + model + after
	changed.RawPath = before + strings.ReplaceAll(url.PathEscape(model), "%2F", "/") + after
	return &changed
}

// patternOf is a path without names that a caller chooses: models, files, and unknown paths.
func patternOf(path string) string {
	for _, whole := range []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses"} {
		if path == whole {
			return whole
		}
	}
	rest, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return "/v1beta/"
	}
	if root, _, _ := strings.Cut(rest, "/"); roots[root] != nil || root == "models" || root == "files" {
		return "/v1/" + root + "/"
	}
	return "/v1/"
}
