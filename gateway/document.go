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

// anybody is the security of operations that need no authentication.
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

// registerDocument serves the OpenAPI document. It is generated from the handlers' types; who
// may call, what a Guard serves by itself, and examples are added here. It must be registered
// last, because it describes everything registered before.
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

// rendering is the document in one format, plain and as gzip.
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

// serve writes the encoding that the client accepts. The only possible error is that
// the client is gone.
func (t rendering) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Encoding")
	if negotiation.SelectQValue(r.Header.Get("Accept-Encoding"), []string{"identity", "gzip"}) != "gzip" {
		_, _ = w.Write(t.plain)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(t.small)
}

// handle serves what is not JSON, and so has no handler made by huma.
func (g *Gateway) handle(op *huma.Operation, h http.HandlerFunc) {
	g.mux.HandleFunc(op.Method+" "+op.Path, h)
	g.api.OpenAPI().AddOperation(op)
}

// documentLogins documents what a Guard serves by itself: see login.go.
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

// documentProblems says that a problem's URIs may be relative, as in RFC 9457.
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

// operations are a document's operations.
func operations(doc *huma.OpenAPI) []*huma.Operation {
	var all []*huma.Operation
	for _, item := range doc.Paths {
		all = append(all, item.Get, item.Post, item.Put, item.Delete)
	}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}
