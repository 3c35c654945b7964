package yamlfile

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
)

var unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)

// suggesting is an error of the decoder which, of a field that is not known, says what was probably meant.
func suggesting(err *yaml.UnknownFieldError, into any) error {
	found := unknownField.FindStringSubmatch(err.Message)
	if found == nil {
		return err
	}
	near := nearest(found[1], fieldsOf(reflect.TypeOf(into), map[reflect.Type]bool{}))
	if near == "" {
		return err
	}
	return &yaml.SyntaxError{Message: fmt.Sprintf("%s; did you mean %q?", err.Message, near), Token: err.Token}
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

// nearest is the name that was probably meant; "" if none is like it. The same one is that of a field
// elsewhere.
func nearest(name string, there []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, candidate := range there {
		if d := distance(name, candidate); d > 0 && d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is how many letters must be added, removed, replaced or swapped with a neighbour to turn
// a into b. Words of more than 64 bytes are far from all others.
func distance(a, b string) int {
	const far = 64
	if len(a) > far || len(b) > far {
		return far
	}
	var rows [far + 1][far + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
