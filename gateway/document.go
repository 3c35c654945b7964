package gateway

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/negotiation"
)

// anybody is the security of what needs nobody to be known.
var anybody = []map[string][]string{}

// documentPaths are where the document is served, and in which form.
var documentPaths = []struct {
	path, kind string
	render     func(*huma.OpenAPI) ([]byte, error)
}{
	{"/openapi.json", "application/openapi+json", (*huma.OpenAPI).MarshalJSON},
	{"/openapi.yaml", "application/openapi+yaml", (*huma.OpenAPI).YAML},
	{"/openapi-3.0.json", "application/openapi+json", (*huma.OpenAPI).Downgrade},
	{"/openapi-3.0.yaml", "application/openapi+yaml", (*huma.OpenAPI).DowngradeYAML},
}

// registerDocument serves the OpenAPI document. It is made from what the handlers take and
// give; to that come who may ask, what a Guard serves by itself, and examples. It is the last
// to be registered, for it is about everything that is.
func (g *Gateway) registerDocument() {
	doc := g.api.OpenAPI()
	for _, at := range documentPaths {
		rendered := sync.OnceValues(func() (rendering, error) { return render(at.render, doc) })
		g.handle(&huma.Operation{
			OperationID: at.path[1:], Method: http.MethodGet, Path: at.path, Summary: "This document", Tags: []string{"things"},
			Responses: map[string]*huma.Response{"200": {Description: "OpenAPI 3.1, or 3.0.", Content: map[string]*huma.MediaType{at.kind: {}}}},
		}, func(w http.ResponseWriter, r *http.Request) {
			text, err := rendered()
			if err != nil {
				g.cfg.Logger.Error("the document cannot be made", "err", err)
				writeProblem(w, http.StatusInternalServerError, broke)
				return
			}
			w.Header().Set("Content-Type", at.kind)
			text.serve(w, r)
		})
	}
	g.documentLogins()
	doc.Security = []map[string][]string{{"token": {}}, {"session": {}}}
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer", Description: "The token of the state folder, for programs."},
		"session": {Type: "apiKey", In: "cookie", Name: "mulligan", Description: "A browser's session; __Host-mulligan with TLS. Writes need the header X-Mulligan-CSRF: 1 besides."},
	}
	g.documentProblems()
	refused := g.problemResponse("Refused, or broken: the status says which, and detail what to do.")
	unknown := g.problemResponse("Nobody who is known asks: show the token, or log in.")
	unknown.Headers = map[string]*huma.Param{"WWW-Authenticate": {Description: "Bearer.", Schema: &huma.Schema{Type: "string"}}}
	again := map[string]*huma.Param{"Retry-After": {Description: "When to ask again, in seconds.", Schema: &huma.Schema{Type: "integer"}}}
	later, away := g.problemResponse("Too much goes on, or too many wrong tokens were shown."), g.problemResponse("Not now: the store or the machine does not do it, or the gateway is closing.")
	later.Headers, away.Headers = again, again
	for _, op := range operations(doc) {
		op.Responses["default"] = refused
		if op.Security == nil {
			op.Responses["401"] = unknown
		}
		op.Responses["429"], op.Responses["503"] = later, away
		addExamples(op)
	}
}

// rendering is the document in one form, and the same in gzip.
type rendering struct{ plain, small []byte }

func render(form func(*huma.OpenAPI) ([]byte, error), doc *huma.OpenAPI) (rendering, error) {
	plain, err := form(doc)
	if err != nil {
		return rendering{}, err
	}
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	_, err = z.Write(plain)
	if err := errors.Join(err, z.Close()); err != nil {
		return rendering{}, err
	}
	return rendering{plain, small.Bytes()}, nil
}

// serve writes it as the client takes it; that the client goes away is the only danger.
func (t rendering) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Encoding")
	if negotiation.SelectQValue(r.Header.Get("Accept-Encoding"), []string{"identity", "gzip"}) != "gzip" {
		_, _ = w.Write(t.plain)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(t.small)
}

// handle serves what is no JSON, and so has no handler that huma makes.
func (g *Gateway) handle(op *huma.Operation, h http.HandlerFunc) {
	g.mux.HandleFunc(op.Method+" "+op.Path, h)
	g.api.OpenAPI().AddOperation(op)
}

// documentLogins tells of what a Guard serves by itself: see login.go.
func (g *Gateway) documentLogins() {
	doc := g.api.OpenAPI()
	sets := map[string]*huma.Param{"Set-Cookie": {Description: "The session.", Schema: &huma.Schema{Type: "string"}}}
	schema := doc.Components.Schemas.Schema(reflect.TypeFor[loginBody](), true, "Login")
	doc.AddOperation(&huma.Operation{
		OperationID: "login", Method: http.MethodPost, Path: loginPath, Summary: "Exchange a one-time code for a session", Tags: []string{"logins"},
		Security: anybody, RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}},
		Responses: map[string]*huma.Response{"204": {Description: "Logged in.", Headers: sets}, "401": g.problemResponse("The code is wrong, was used, or is too old.")},
	})
	doc.AddOperation(&huma.Operation{
		OperationID: "logout", Method: http.MethodPost, Path: logoutPath, Summary: "End the session", Tags: []string{"logins"},
		Responses: map[string]*huma.Response{"204": {Description: "Logged out.", Headers: sets}},
	})
}

// documentProblems says of a problem's URIs what RFC 9457 says: they may be relative.
func (g *Gateway) documentProblems() {
	g.problemResponse("") // makes the schema
	problem := g.api.OpenAPI().Components.Schemas.Map()["ErrorModel"]
	for _, name := range []string{"type", "instance"} {
		problem.Properties[name].Format = "uri-reference"
	}
}

func (g *Gateway) problemResponse(description string) *huma.Response {
	schema := g.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[huma.ErrorModel](), true, "")
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schema}}}
}

// operations are those of a document.
func operations(doc *huma.OpenAPI) []*huma.Operation {
	var all []*huma.Operation
	for _, item := range doc.Paths {
		all = append(all, item.Get, item.Post, item.Put, item.Delete)
	}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}
