package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Labels are words of an embedder or a caller for a run, such as a customer, a ticket or a tenant,
// by which runs can be listed. They mean nothing to the run, and are not shown to models, tools or
// plugins.
type Labels map[string]string

// The limits of Labels.
const (
	maxLabels     = 16
	maxLabelKey   = 64  // bytes: lower-case letters, digits and "._/-", beginning with a letter or a digit
	maxLabelValue = 256 // characters of valid UTF-8 without control characters
)

// Check says what is wrong with the first invalid label, in the order of the keys.
func (l Labels) Check() error {
	if len(l) == 0 {
		return nil // as most are
	}
	if len(l) > maxLabels {
		return fmt.Errorf("there are %d labels; a run has at most %d", len(l), maxLabels)
	}
	for _, key := range slices.Sorted(maps.Keys(l)) {
		switch value := l[key]; {
		case !isLabelKey(key):
			return fmt.Errorf("%q is not a label: its name has 1 to %d small letters, digits and ._/-, a letter or a digit first", key, maxLabelKey)
		case !isLabelValue(value):
			return fmt.Errorf("the label %s is not valid UTF-8 of at most %d characters, none of them a control character", key, maxLabelValue)
		}
	}
	return nil
}

func isLabelKey(key string) bool {
	for i, c := range []byte(key) {
		plain := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !plain && (i == 0 || !strings.ContainsRune("._/-", rune(c))) {
			return false
		}
	}
	return key != "" && len(key) <= maxLabelKey
}

func isLabelValue(value string) bool {
	return utf8.RuneCountInString(value) <= maxLabelValue && utf8.ValidString(value) && !hasControl(value)
}

// String writes the labels in the order of their names: name=value.
func (l Labels) String() string {
	var written []string
	for _, key := range slices.Sorted(maps.Keys(l)) {
		written = append(written, key+"="+l[key])
	}
	return strings.Join(written, " ")
}

// ParseLabels reads labels as people write them: name=value, each name once.
func ParseLabels(written []string) (Labels, error) {
	l := make(Labels, len(written))
	for _, text := range written {
		key, value, ok := strings.Cut(text, "=")
		if _, again := l[key]; !ok || again {
			return nil, fmt.Errorf("%q: write each label once, as name=value", text)
		}
		l[key] = value
	}
	return l, l.Check()
}

// Has reports whether l has all the labels of some, with the same values.
func (l Labels) Has(some Labels) bool {
	for key, value := range some {
		if mine, ok := l[key]; !ok || mine != value {
			return false
		}
	}
	return true
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
}
