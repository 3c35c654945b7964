package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// enoughFaults is how many errors are collected in a body.
const enoughFaults = 100

var errEnough = errors.New("enough errors were found")

// shape is what a body's JSON must look like: a schema, and the schemas that it refers
// to.
type shape struct {
	schema  *huma.Schema
	schemas huma.Registry
}

// check validates JSON against the shape in one pass, and returns the errors found. err is the
// reason the pass stopped early: ctx ended, or a syntax error. Unknown keys, including those
// that differ only in case, and duplicate keys are errors, because encoding/json would accept
// them.
func (s shape) check(ctx context.Context, data []byte) ([]*huma.ErrorDetail, error) {
	i := &inspection{ctx: ctx, tokens: json.NewDecoder(bytes.NewReader(data)), schemas: s.schemas, at: []string{"body"}, secret: s.secret()}
	i.tokens.UseNumber()
	err := i.value(s.schema)
	if err == nil {
		_, err = i.tokens.Token()
		switch {
		case errors.Is(err, io.EOF):
			err = nil
		case err == nil:
			err = errors.New("something follows the JSON")
		}
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return i.faults, err
}

// secret reports whether a field of the body is one. Whoever sends it in the wrong place or by a wrong name
// is not sent it back either.
func (s shape) secret() bool {
	schema := s.schema
	for schema.Ref != "" {
		schema = s.schemas.SchemaFromRef(schema.Ref)
	}
	for _, field := range schema.Properties {
		if field.WriteOnly {
			return true
		}
	}
	return false
}

// inspection is one pass over a body.
type inspection struct {
	ctx     context.Context
	tokens  *json.Decoder
	schemas huma.Registry
	at      []string // the path to the current value
	secret  bool     // nothing that was sent is repeated
	seen    int      // tokens so far
	faults  []*huma.ErrorDetail
}

// next returns a token; every so often it checks whether the request was cancelled.
func (i *inspection) next() (json.Token, error) {
	const often = 1024
	if i.seen++; i.seen%often == 0 && i.ctx.Err() != nil {
		return nil, context.Cause(i.ctx)
	}
	token, err := i.tokens.Token()
	if errors.Is(err, io.EOF) {
		err = errors.New("unexpected end")
	}
	return token, err
}

// value checks the next value against a schema.
func (i *inspection) value(s *huma.Schema) error {
	for s.Ref != "" {
		s = i.schemas.SchemaFromRef(s.Ref)
	}
	token, err := i.next()
	if err != nil {
		return err
	}
	switch {
	case s.Type == "":
		return i.skip(token)
	case token == json.Delim('{') && s.Type == huma.TypeObject:
		return i.object(s)
	case token == json.Delim('[') && s.Type == huma.TypeArray:
		return i.array(s)
	}
	if err := i.single(s, token); err != nil {
		return err
	}
	return i.skip(token)
}

// single checks a value that is neither object nor array, or that is the wrong one of the
// two.
func (i *inspection) single(s *huma.Schema, token json.Token) error {
	switch t := token.(type) {
	case json.Delim:
		token = map[json.Delim]any{'{': map[string]any{}, '[': []any{}}[t]
	case json.Number:
		number, err := t.Float64()
		if err != nil {
			return i.fault(huma.ErrorDetail{Message: "the number is too large"})
		}
		if _, err := t.Int64(); err != nil && s.Type == huma.TypeInteger && number == math.Trunc(number) {
			return i.fault(huma.ErrorDetail{Message: "write an integer of at most 64 bits, without a fraction and an exponent", Value: number})
		}
		token = number
	}
	var said huma.ValidateResult
	huma.Validate(i.schemas, s, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, token, &said)
	for _, err := range said.Errors {
		fault := huma.ErrorDetail{Message: err.Error()}
		if detail, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			fault = huma.ErrorDetail{Message: detail.Message, Value: detail.Value}
		}
		if err := i.fault(fault); err != nil {
			return err
		}
	}
	return nil
}

func (i *inspection) array(s *huma.Schema) error {
	n := 0
	for ; i.tokens.More(); n++ {
		if s.MaxItems != nil && n == *s.MaxItems {
			if err := i.fault(huma.ErrorDetail{Message: "more than " + strconv.Itoa(n) + " items"}); err != nil {
				return err
			}
			return i.close(1)
		}
		if err := i.below("["+strconv.Itoa(n)+"]", s.Items); err != nil {
			return err
		}
	}
	if _, err := i.next(); err != nil {
		return err
	}
	if s.MinItems != nil && n < *s.MinItems {
		return i.fault(huma.ErrorDetail{Message: "fewer than " + strconv.Itoa(*s.MinItems) + " items"})
	}
	return nil
}

func (i *inspection) object(s *huma.Schema) error {
	seen := map[string]bool{}
	for i.tokens.More() {
		key, err := i.key()
		if err != nil {
			return err
		}
		twice := seen[key]
		seen[key] = true
		if err := i.member(s, key, twice); err != nil {
			return err
		}
	}
	if _, err := i.next(); err != nil {
		return err
	}
	for _, key := range s.Required {
		if !seen[key] {
			if err := i.fault(huma.ErrorDetail{Message: "it lacks " + key}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *inspection) key() (string, error) {
	token, err := i.next()
	key, ok := token.(string)
	if err == nil && !ok {
		err = errors.New("a key is not a string")
	}
	return key, err
}

func (i *inspection) member(s *huma.Schema, key string, twice bool) error {
	property, known := s.Properties[key]
	fault := huma.ErrorDetail{Message: "there is no such field"}
	misspelt := false
	for name := range s.Properties {
		if !known && strings.EqualFold(name, key) {
			misspelt, fault.Message = true, "there is no such field: write "+name
		}
	}
	if others, ok := s.AdditionalProperties.(*huma.Schema); ok && !known && !misspelt {
		property, known = others, true
	}
	if known && !twice {
		return i.below("."+key, property)
	}
	if twice {
		fault.Message = "it is there twice"
	}
	if err := i.fault(fault, "."+key); err != nil {
		return err
	}
	token, err := i.next()
	if err != nil {
		return err
	}
	return i.skip(token)
}

// below descends one step for the next value.
func (i *inspection) below(step string, s *huma.Schema) error {
	i.at = append(i.at, step)
	err := i.value(s)
	i.at = i.at[:len(i.at)-1]
	return err
}

// skip skips the rest of the value that begins with token.
func (i *inspection) skip(token json.Token) error {
	if token == json.Delim('{') || token == json.Delim('[') {
		return i.close(1)
	}
	return nil
}

// close skips to the end of that many open objects and arrays.
func (i *inspection) close(open int) error {
	for open > 0 {
		token, err := i.next()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return nil
}

// fault records an error here, or a step below.
func (i *inspection) fault(f huma.ErrorDetail, below ...string) error {
	if len(i.faults) == enoughFaults {
		return errEnough
	}
	if i.secret {
		f.Value, below = nil, nil
	}
	if len(i.faults) < maxFaults {
		for _, step := range append(i.at, below...) {
			f.Location += clip(step, maxEcho)
		}
		f.Location, f.Value = clip(f.Location, maxEcho), echo(f.Value)
		i.faults = append(i.faults, &f)
		return nil
	}
	i.faults = append(i.faults, &huma.ErrorDetail{})
	return nil
}
