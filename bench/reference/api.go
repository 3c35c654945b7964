package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/timeline"
)

// operation is what the page says about an operation of the OpenAPI document.
type operation struct {
	Summary, Description string
	Tags                 []string
	Parameters           []struct {
		Name, In, Description string
		Required              bool
	}
	RequestBody *struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
	Responses map[string]struct{ Description string }
}

type schema struct {
	Description string
	Properties  map[string]struct {
		Description string
		Type        any
		Ref         string `json:"$ref"`
		Items       struct {
			Type any
			Ref  string `json:"$ref"`
		}
	}
	Required []string
}

type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

// apiPage has every operation of the HTTP API, from the document that a gateway serves.
func apiPage() (string, error) {
	served := httptest.NewRecorder()
	gateway.New(everything()).ServeHTTP(served, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/openapi.json", nil))
	var doc document
	if err := json.Unmarshal(served.Body.Bytes(), &doc); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# The HTTP API\n\nEvery operation of `mulligan serve`, out of the document that it serves at `/openapi.json`, which has the schemas of all answers besides. Made from the code: " +
		"do not edit it here. Programs show the token of the state folder: see [security](security.md).\n")
	for _, path := range sorted(doc.Paths) {
		for _, method := range sorted(doc.Paths[path]) {
			describeOperation(&b, strings.ToUpper(method)+" "+path, doc.Paths[path][method], doc)
		}
	}
	return b.String(), nil
}

// everything makes a gateway register all operations; none of them is called.
func everything() gateway.Config {
	return gateway.Config{
		Log: timeline.NewMemory(), Advice: struct{ gateway.Advice }{}, Metrics: http.NotFoundHandler(),
		ToolResults: func(context.Context, string, []gateway.CallResult) error { return nil },
	}
}

func describeOperation(b *strings.Builder, heading string, op operation, doc document) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", heading, strings.TrimSuffix(op.Summary, "."))
	if op.Description != "" {
		b.WriteString("\n" + op.Description + "\n")
	}
	var rows []string
	for _, p := range op.Parameters {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", p.Name, p.In, cell(p.Description)))
	}
	if op.RequestBody != nil {
		for _, kind := range sorted(op.RequestBody.Content) {
			body := doc.Components.Schemas[last(op.RequestBody.Content[kind].Schema.Ref)]
			for _, name := range sorted(body.Properties) {
				p, must := body.Properties[name], ""
				if slices.Contains(body.Required, name) {
					must = "Required. "
				}
				if name != "$schema" {
					rows = append(rows, fmt.Sprintf("| `%s` | body | %s |", name, must+cell(p.Description)))
				}
			}
		}
	}
	if len(rows) > 0 {
		b.WriteString("\n| | in | |\n|---|---|---|\n" + strings.Join(rows, "\n") + "\n")
	}
	for _, code := range sorted(op.Responses) {
		if strings.HasPrefix(code, "2") {
			fmt.Fprintf(b, "\n%s: %s\n", code, op.Responses[code].Description)
		}
	}
}

func last(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

func sorted[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
