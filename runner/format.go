package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mulligan-run/mulligan/llm"
)

// FormatOf is the format of an answer that is a T, for a Request's Form; AnswerOf reads the answer.
// The JSON Schema is made from T: see ToolOf. It is strict if no field of T is optional. FormatOf
// panics if T has no schema: a channel, a function, a map with keys that are not strings, or a type
// that contains itself.
func FormatOf[T any]() *llm.Format {
	text, strict, err := schemaOf[T]()
	if err != nil {
		panic(err)
	}
	return &llm.Format{Schema: text, Strict: strict}
}

// AnswerOf reads the answer of a run whose Form has FormatOf[T].
func AnswerOf[T any](result Result) (T, error) {
	var answer T
	if err := json.Unmarshal([]byte(bare(result.Text)), &answer); err != nil {
		return answer, fmt.Errorf("the answer of run %s is not a %T: %w", result.Run, answer, err)
	}
	return answer, nil
}

// schemaOf is the JSON Schema of a type, and whether every field is required.
func schemaOf[T any]() (text json.RawMessage, strict bool, err error) {
	s, err := jsonschema.For[T](nil)
	if err == nil {
		text, err = json.Marshal(s)
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s has no JSON Schema: %w", reflect.TypeFor[T](), err)
	}
	return text, complete(s), nil
}

// complete reports whether every field of every object in s is required, as OpenAI demands of a
// strict schema.
func complete(s *jsonschema.Schema) bool {
	if s == nil {
		return true
	}
	if s.Type == "object" && (s.Properties == nil && s.AdditionalProperties == nil || len(s.Required) < len(s.Properties)) {
		return false
	}
	for _, p := range s.Properties {
		if !complete(p) {
			return false
		}
	}
	return complete(s.Items) && (s.AdditionalProperties == nil || s.AdditionalProperties.Not != nil)
}

// checkForm says why the answer does not have the form that the run demands.
func (a *attempt) checkForm(ctx context.Context) error {
	l := a.loop
	if l.call != nil || l.run.Form == nil || l.run.Form.Format == nil || a.answer.Calls > 0 {
		return nil
	}
	compiled, err := l.r.schemas.ofText(l.run.Form.Format.Schema)
	if err != nil {
		return err
	}
	text := bare(a.answer.Message(a.model).Text())
	if !json.Valid([]byte(text)) {
		return errors.New("it has to be one JSON value and nothing else")
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if err := compiled.Validate(ctx, []byte(text)); err != nil {
		return fmt.Errorf("it does not fit the schema that it has to keep to: %w", err)
	}
	return nil
}

// bare is JSON without the Markdown fence that some models put around it.
func bare(text string) string {
	text = strings.TrimSpace(text)
	if inside, ok := strings.CutPrefix(text, "```"); ok {
		if inside, ok := strings.CutSuffix(inside, "```"); ok {
			return strings.TrimSpace(strings.TrimPrefix(inside, "json"))
		}
	}
	return text
}
