package yamlfile

import (
	"strings"
	"testing"
)

// TestAMistypedFieldIsGuessed where it is like one that there is.
func TestAMistypedFieldIsGuessed(t *testing.T) {
	for source, want := range map[string]string{
		"cuont: 3":              `unknown field "cuont"; did you mean "count"?`,
		"Inner: {}":             `unknown field "Inner"; did you mean "inner"?`,
		"named: {a: {time: 3}}": `unknown field "time"; did you mean "times"?`,
		"inner: {count: 3}":     `unknown field "count"` + "\n",
		"weather: 3":            `unknown field "weather"` + "\n",
		"\"did you mean x\": 3": `unknown field "did you mean x"` + "\n",
	} {
		if err := Decode([]byte(source), &document{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
}
