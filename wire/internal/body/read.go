package body

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// Check says why data cannot be a request.
func Check(data []byte) error {
	if problem := scan.Object(data); problem != "" {
		return wire.BadRequest("", "%s", problem)
	}
	return nil
}

// Table maps the names of an object's members to their readers. A nil reader is for a member that
// does not concern the model.
type Table[R any] map[string]func(r R, value []byte) error

// Read reads each member of an object with its reader in the table. Null counts as absent. Names
// that are not in the table are passed to other. A repeated name is an error, since another reader
// of the same body might use the other value.
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

// Null reports whether value is null or missing.
func Null(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// IsText reports whether value is a string.
func IsText(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// IsList reports whether value is a list.
func IsList(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// Into reads value, which is at field, into v.
func Into(field string, value []byte, v any) error {
	err := wire.Unmarshal(value, v)
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

// List reads each element of the list value, which is at field.
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
