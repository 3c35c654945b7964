package schema

import (
	"context"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// location is the document's name, which the compiler requires.
const location = "mem://schema"

// Schema is a compiled JSON Schema. It may be used by several goroutines.
type Schema struct {
	compiled *jsonschema.Schema
}

// Compile reads a JSON Schema of the drafts 4 to 2020-12, of at most 256 KiB. The error
// of one that is too large, too deep or invalid says what is wrong with it.
func Compile(ctx context.Context, document []byte) (_ *Schema, err error) {
	defer caught(&err)
	root, err := read(document, maxDocument, maxSchemaValues)
	if err != nil {
		return nil, err
	}
	if err := checkKeywords(root); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	patterns := patternBudget{left: maxPrograms}
	compiler.UseRegexpEngine(patterns.compile)
	if err := compiler.AddResource(location, root.value); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(location)
	if err != nil {
		return nil, explain(err)
	}
	return &Schema{compiled}, nil
}

// Validate checks a JSON value of at most 1 MiB. An *[Invalid] lists what is wrong with it; any
// other error means that it could not be checked.
func (s *Schema) Validate(ctx context.Context, value []byte) (err error) {
	defer caught(&err)
	root, err := read(value, maxValue, maxValue)
	if err != nil {
		return err
	}
	if err := affordable(ctx, s.compiled, root); err != nil {
		return err
	}
	return explain(s.compiled.Validate(root.value))
}

// caught turns a panic of the library into an error: its input comes from others.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the JSON Schema could not be worked with: %v", p)
	}
}
