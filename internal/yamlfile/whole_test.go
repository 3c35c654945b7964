package yamlfile

import (
	"strings"
	"testing"
)

type inner struct {
	Times *int    `yaml:"times"`
	Share float64 `yaml:"share"`
}

type document struct {
	Count uint8             `yaml:"count"`
	List  []int             `yaml:"list"`
	Named map[string]*inner `yaml:"named"`
	Inner inner             `yaml:"inner"`
	Any   any               `yaml:"any"`
}

func (*document) Problem() *Problem { return nil }

// TestAFractionIsNotCutOff where a whole number belongs.
func TestAFractionIsNotCutOff(t *testing.T) {
	for source, line := range map[string]string{
		"count: 3.5":                              ">  1 | count: 3.5",
		"list:\n  - 1\n  - 2.25":                  ">  3 |   - 2.25",
		"named:\n  a:\n    times: &t 0.5":         ">  3 |     times: &t 0.5",
		"\"count\": 3.5":                          ">  1 | \"count\": 3.5",
		"inner: {share: 0.5, times: 1e-1}":        ">  1 | inner: {share: 0.5, times: 1e-1}",
		"inner: {share: &s 0.5}\ncount: *s":       ">  1 | inner: {share: &s 0.5}",
		"any: &i {times: 2.5}\ninner: {<<: *i}":   ">  1 | any: &i {times: 2.5}",
		"any: [&i {times: .5}]\ninner:\n  <<: *i": ">  1 | any: [&i {times: .5}]",
		"any: &s 0.5\ninner: {share: *s}":         "",
		"any: &s 4\ncount: *s":                    "",
		"any: &a [*a]":                            "",
		"count: 1\n---\ncount: 2":                 "",
		"count: 3.0":                              "",
		"list: [1e2]":                             "",
		"inner: {share: 0.5}\nany: {times: .5}":   "",
		"named: {a: {times: 3}}":                  "",
		"":                                        "",
	} {
		err := Decode([]byte(source), &document{})
		switch {
		case line == "" && err != nil:
			t.Errorf("%q: %v", source, err)
		case line != "" && (err == nil || !strings.Contains(err.Error(), needsWhole) || !strings.Contains(err.Error(), line)):
			t.Errorf("%q: %v", source, err)
		}
	}
}
