package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// register adds an operation. Before a body is decoded, admit checks it against its schema.
func register[I, O any](g *Gateway, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	op.SkipValidateBody = true
	op.BodyReadTimeout = -1 // the body has already been read
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = maxBody + 1 // huma refuses a body of exactly the limit, too
	}
	huma.Register(g.api, op, handler)
	added := g.api.OpenAPI().Paths[op.Path]
	for _, item := range []*huma.Operation{added.Get, added.Post, added.Put, added.Delete} {
		if item != nil && item.OperationID == op.OperationID && item.RequestBody != nil {
			g.bodies[op.Method+" "+op.Path] = shape{item.RequestBody.Content["application/json"].Schema, g.api.OpenAPI().Components.Schemas}
		}
	}
}

// admit reads a body and reports whether it has the wanted shape; if not, it answers with the
// errors.
func admit(w http.ResponseWriter, r *http.Request, wanted shape) bool {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeProblem(w, http.StatusRequestEntityTooLarge, "the body is too large, or not complete")
		return false
	}
	if len(data) == 0 {
		return true // huma reports that it is missing
	}
	faults, err := wanted.check(r.Context(), data)
	switch {
	case r.Context().Err() != nil:
		writeProblem(w, http.StatusServiceUnavailable, gaveUp) // nobody reads this answer
	case err != nil:
		writeProblem(w, http.StatusBadRequest, "the body is not JSON: "+clip(err.Error(), maxEcho))
	case len(faults) > 0:
		writeFaults(w, faults)
	default:
		r.Body = io.NopCloser(bytes.NewReader(data))
		return true
	}
	return false
}

// writeFaults answers with what is wrong with a body.
func writeFaults(w http.ResponseWriter, faults []*huma.ErrorDetail) {
	said, _ := boundProblem(nil, "", &huma.ErrorModel{
		Status: http.StatusUnprocessableEntity, Title: http.StatusText(http.StatusUnprocessableEntity), Detail: "the body is not as it should be", Errors: faults,
	}) // boundProblem never returns an error
	writeJSON(w, http.StatusUnprocessableEntity, "application/problem+json", said)
}

// shapeOf is the shape of a type's JSON.
func shapeOf[T any]() shape {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	return shape{schemas.Schema(reflect.TypeFor[T](), true, ""), schemas}
}

var errShape = errors.New("the body is not as it should be")

// readShape decodes a body that has the shape.
func readShape(r *http.Request, wanted shape, into any) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if faults, err := wanted.check(r.Context(), data); err != nil || len(faults) > 0 {
		return errors.Join(errShape, err)
	}
	return json.Unmarshal(data, into)
}
