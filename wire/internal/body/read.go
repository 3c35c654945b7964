package body

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// Check reports what keeps data from being a request.
func Check(data []byte) error {
	if problem := scan.Object(data); problem != "" {
		return wire.BadRequest("", "%s", problem)
	}
	return nil
}

// Table says who reads the members of an object, by their names. A nil reader is of a
// member that means nothing to the model.
type Table[R any] map[string]func(r R, value []byte) error

// Read has each member of an object read by r as the table says. Null is as good as
// absent; a member whose name is not in the table is told to other. A name that is there
// twice is an error: the next reader might go by the other of the two.
func Read[R any](r R, object []byte, table Table[R], other func(name string)) error {
	seen := map[string]bool{}
	for name, at := range scan.Members(object) {
		if seen[name] {
			return wire.BadRequest(name, "is there twice")
		}
		seen[name] = true
		read, known := table[name]
		value := at.Of(object)
		switch {
		case Null(value):
		case !known:
			other(name)
		case read != nil:
			if err := read(r, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Null reports whether value is null, or not there.
func Null(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// IsText reports whether value is a string.
func IsText(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// IsList reports whether value is a list.
func IsList(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// Into reads value, which is field, into v.
func Into(field string, value []byte, v any) error {
	err := json.Unmarshal(value, v)
	mismatch := (*json.UnmarshalTypeError)(nil)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &mismatch):
		return wire.BadRequest(field, "is not valid: %v", err)
	case mismatch.Field != "":
		field += "." + mismatch.Field
	}
	return wire.BadRequest(field, "is %s, and not %s", given(mismatch.Value), wanted(mismatch.Type))
}

// List reads the elements of value, which is field.
func List(field string, value []byte, read func(field string, element []byte) error) error {
	if !IsList(value) {
		return wire.BadRequest(field, "is not a list")
	}
	for i, element := range scan.Elements(value) {
		if err := read(field+"["+strconv.Itoa(i)+"]", element); err != nil {
			return err
		}
	}
	return nil
}

func given(value string) string {
	switch value {
	case "string":
		return "a text"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	case "number":
		return "a number"
	}
	return "the " + value
}

func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "an object"
}
