package faultlab

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// How the Gemini API reads its JSON: names in camel case or snake case, each value in its own form,
// and no members that it does not know.

// protoObject reads an object whose members may have these names and no others; a member that is
// null counts as absent.
func protoObject(raw json.RawMessage, at string, names []string) (map[string]json.RawMessage, *complaint) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, wrongValue(at, raw)
	}
	for _, given := range slices.Sorted(maps.Keys(object)) {
		name := camel(given)
		if !slices.Contains(names, name) {
			return nil, unknownName(given, at)
		}
		value := object[given]
		delete(object, given)
		if string(value) != "null" {
			object[name] = value
		}
	}
	return object, nil
}

func unknownName(name, at string) *complaint {
	if at != "" {
		at = " at '" + at + "'"
	}
	return complain("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, at)
}

func wrongValue(at string, raw json.RawMessage) *complaint {
	return complain("Invalid value at '%s': %s", at, clip(string(raw)))
}

// camel turns snake_case into camelCase.
func camel(name string) string {
	head, rest, found := strings.Cut(name, "_")
	for found && rest != "" {
		var word string
		word, rest, found = strings.Cut(rest, "_")
		if word != "" {
			head += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return head
}

// protoList reads an array; an absent one is empty.
func protoList(raw json.RawMessage, at string) ([]json.RawMessage, *complaint) {
	var items []json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &items) != nil {
		return nil, wrongValue(at, raw)
	}
	return items, nil
}

// protoText reads a string; an absent one is empty.
func protoText(raw json.RawMessage, at string) (string, *complaint) {
	var s string
	if len(raw) > 0 && json.Unmarshal(raw, &s) != nil {
		return "", wrongValue(at, raw)
	}
	return s, nil
}
