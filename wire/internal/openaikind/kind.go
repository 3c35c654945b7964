package openaikind

import (
	"fmt"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// ToolChoice reads which tools may or must be called. value is a word, or an object that is decoded
// into choice; named gives the type and the tool's name in that object.
func ToolChoice[C any](a *wire.Asked, value []byte, named func(choice C) (kind, name string)) error {
	var kind, name string
	if body.IsText(value) {
		kind = scan.Text(value)
	} else {
		var choice C
		if err := body.Into("tool_choice", value, &choice); err != nil {
			return err
		}
		kind, name = named(choice)
	}
	switch kind {
	case "auto":
		return nil
	case "none":
		a.Request.ToolChoice.Mode = llm.ToolNone
		return nil
	case "required", "function":
		a.Request.ToolChoice = llm.ToolChoice{Mode: llm.ToolRequired, Name: name}
	default:
		a.Bind(fmt.Sprintf("a choice of tools of type %q (tool_choice)", kind))
	}
	a.NeedWhole("a tool that has to be called (tool_choice)")
	return nil
}

// Format reads the form of the answer, which the request has at field.
func Format(a *wire.Asked, field, kind string, format llm.Format) {
	switch {
	case kind == "text":
	case kind == "json_schema" && !body.Null(format.Schema):
		a.Request.Format = &format
		a.NeedWhole("the form of the answer (" + field + ")")
	default:
		a.BindWhole(fmt.Sprintf("a form of the answer of type %q (%s)", kind, field))
	}
}

// Content reads a message's content: a text, or a list of parts. part reads one part; ok is false
// if the model gets nothing from it.
func Content(field string, value []byte, part func(field string, element []byte) (read llm.Part, ok bool, err error)) (parts []llm.Part, err error) {
	switch {
	case body.Null(value), string(value) == `""`:
		return nil, nil
	case body.IsText(value):
		return []llm.Part{{Text: scan.Text(value)}}, nil
	}
	err = body.List(field, value, func(field string, element []byte) error {
		read, ok, err := part(field, element)
		if ok {
			parts = append(parts, read)
		}
		return err
	})
	return parts, err
}
