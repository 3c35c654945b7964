package yamlfile

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/internal/near"
)

// suggesting is an error of the decoder which, of a field that is not known, says what was probably meant.
func suggesting(err *yaml.UnknownFieldError, into any) error {
	name, ok := strings.CutPrefix(err.Message, `unknown field "`)
	if !ok {
		return err
	}
	meant := near.Word(strings.TrimSuffix(name, `"`), fieldsOf(reflect.TypeOf(into), map[reflect.Type]bool{}))
	if meant == "" {
		return err
	}
	return &yaml.SyntaxError{Message: fmt.Sprintf("%s; did you mean %q?", err.Message, meant), Token: err.Token}
}

// fieldsOf are the names of all fields that a t and what is in it have.
func fieldsOf(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	if t == nil || seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return fieldsOf(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
				names = append(names, name)
			}
			names = append(names, fieldsOf(f.Type, seen)...)
		}
	}
	return names
}
