package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// into reads an object into v; its member names may have either form.
func into(field string, value []byte, v any) error {
	if len(value) > 0 && value[0] == '{' {
		value = camel(value)
	}
	return body.Into(field, value, v)
}

// camel is an object with its top-level names in the API's own form; the API also accepts names
// with underscores.
func camel(object []byte) []byte {
	if bytes.IndexByte(object, '_') < 0 {
		return object
	}
	out := []byte("{")
	for name, at := range scan.Members(object) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		words := strings.Split(name, "_")
		for i, word := range words[1:] {
			if word != "" {
				words[i+1] = strings.ToUpper(word[:1]) + word[1:]
			}
		}
		out = append(wire.Append(out, strings.Join(words, "")), ':')
		out = append(out, at.Of(object)...)
	}
	return append(out, '}')
}

// types are those of the OpenAPI subset that the API used before it accepted JSON Schema.
var types = []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}

// jsonSchema converts the older form of a schema to JSON Schema, which writes types in lower
// case.
func jsonSchema(older json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(older))
	decoder.UseNumber()
	var schema any
	if decoder.Decode(&schema) != nil {
		return older
	}
	small(schema)
	return wire.Append(nil, schema)
}

func small(in any) {
	switch v := in.(type) {
	case map[string]any:
		if t, ok := v["type"].(string); ok && slices.Contains(types, t) {
			v["type"] = strings.ToLower(t)
		}
		for _, inner := range v {
			small(inner)
		}
	case []any:
		for _, inner := range v {
			small(inner)
		}
	}
}
