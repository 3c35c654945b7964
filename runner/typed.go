package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// ToolOf makes a Tool from a function. Its arguments are In, a struct whose exported fields are
// described to the model under their JSON names: a field without omitempty or omitzero is
// required, and the tag jsonschema describes it.
//
//	type query struct {
//		City string `json:"city" jsonschema:"the city, in English"`
//		Days int    `json:"days,omitempty" jsonschema:"how many days ahead, 1 if not given"`
//	}
//
// The model gets the function's result, a string as it is and anything else as JSON. CallOf gives
// the call. Safety, Timeout and For may be set afterwards. A run refuses to start with a tool whose
// In has no schema: see FormatOf.
func ToolOf[In, Out any](name, description string, f func(ctx context.Context, args In) (Out, error)) Tool {
	t := Tool{Name: name, Description: description}
	if kind := reflect.TypeFor[In]().Kind(); kind != reflect.Struct {
		t.wrong = fmt.Errorf("the arguments of a tool must be a struct, and %s is not one", reflect.TypeFor[In]())
		return t
	}
	t.Schema, _, t.wrong = schemaOf[In]()
	if f == nil {
		return t
	}
	t.Run = func(ctx context.Context, call ToolCall) (string, error) {
		var args In
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return "", fmt.Errorf("the arguments do not fit: %w", err)
		}
		out, err := f(context.WithValue(ctx, callKey{}, call), args)
		if err != nil {
			return "", err
		}
		return resultText(out)
	}
	return t
}

// CallOf is the call that the function of a ToolOf runs for.
func CallOf(ctx context.Context) ToolCall {
	call, _ := ctx.Value(callKey{}).(ToolCall)
	return call
}

type callKey struct{}

// resultText is a result in the form in which the model gets it.
func resultText(out any) (string, error) {
	if text, ok := out.(string); ok {
		return text, nil
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "", fmt.Errorf("its result is not JSON: %w", err)
	}
	return string(text), nil
}
