package config

import (
	"slices"
	"testing"
)

// TestModelsInTheOrderOfTheFile: whoever chooses by a number gets the same model every time.
func TestModelsInTheOrderOfTheFile(t *testing.T) {
	c, err := Parse([]byte(`
providers:
  zeta: {type: openai, base_url: http://127.0.0.1:1/v1, models: {small: {}, large: {}}}
  alpha:
    models:
      two: {context_tokens: 5}
      one:
    type: openai
    base_url: http://127.0.0.1:1/v1
  none: {type: openai, base_url: http://127.0.0.1:1/v1}
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"zeta/small", "zeta/large", "alpha/two", "alpha/one"}; !slices.Equal(c.Models, want) {
		t.Errorf("%q, not %q", c.Models, want)
	}
	if c, err = Parse(nil); err != nil || len(c.Models) > 0 {
		t.Errorf("%q, %v", c.Models, err)
	}
}
