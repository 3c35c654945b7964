package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Bounds on what is read.
const (
	maxDocument     = 256 << 10 // bytes of a schema
	maxValue        = 1 << 20   // bytes of a value
	maxSchemaValues = 5000      // JSON values in a schema: compiling compares each sub-schema with each
	maxDepth        = 100       // nesting of JSON
	maxDigits       = 1000      // of a number, and of its power of ten: arithmetic on it is exact
)

// node is a JSON value with an identity of its own.
type node struct {
	value  any
	fields map[string]*node
	items  []*node
}

// read decodes one JSON value within its bounds.
func read(raw []byte, maxBytes, maxValues int) (*node, error) {
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", len(raw), maxBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is not JSON: something follows its end")
	}
	left := maxValues
	return measure(value, maxDepth, &left)
}

func measure(value any, depth int, left *int) (*node, error) {
	*left--
	switch {
	case depth == 0:
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	case *left < 0:
		return nil, errors.New("it has too many values")
	}
	n := &node{value: value}
	switch value := value.(type) {
	case map[string]any:
		n.fields = make(map[string]*node, len(value))
		for name, field := range value {
			child, err := measure(field, depth-1, left)
			if err != nil {
				return nil, err
			}
			n.fields[name] = child
		}
	case []any:
		for _, item := range value {
			child, err := measure(item, depth-1, left)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, child)
		}
	case json.Number:
		return n, checkNumber(value.String())
	}
	return n, nil
}

// checkNumber refuses a number that is short to write but has a million digits.
func checkNumber(number string) error {
	digits, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil {
			power = maxDigits + 1 // so large that it is no int
		}
	}
	if len(digits) > maxDigits || power > maxDigits || power < -maxDigits {
		return fmt.Errorf("a number in it has more than %d digits", maxDigits)
	}
	return nil
}

// drafts are the known values of $schema; any other would have to be fetched.
var drafts = []string{
	"http://json-schema.org/schema", "http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema",
	"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
}

// checkKeywords refuses keywords that are allowed in a document but not followed here.
func checkKeywords(n *node) error {
	if said := n.fields["$schema"]; said != nil {
		named, _ := said.value.(string)
		draft := strings.Replace(strings.TrimSuffix(named, "#"), "https://json-schema.org/draft-", "http://json-schema.org/draft-", 1)
		if named != "" && !slices.Contains(drafts, draft) {
			return fmt.Errorf("its $schema is not known: leave it out, or say %s", drafts[len(drafts)-1])
		}
	}
	for _, child := range n.fields {
		if err := checkKeywords(child); err != nil {
			return err
		}
	}
	for _, child := range n.items {
		if err := checkKeywords(child); err != nil {
			return err
		}
	}
	return nil
}
