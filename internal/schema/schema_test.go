package schema_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/schema"
)

// check compiles and validates, and fails the test if that does not end.
func check(t *testing.T, document, value string) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		compiled, err := schema.Compile(t.Context(), []byte(document))
		if err == nil {
			err = compiled.Validate(t.Context(), []byte(value))
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("it still works on it")
		return nil
	}
}

func TestOrdinary(t *testing.T) {
	const ordinary = `{"type": "object", "additionalProperties": false, "required": ["city"], "properties": {
		"city": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
		"days": {"type": "integer", "minimum": 1, "maximum": 14},
		"unit": {"enum": ["C", "F"]},
		"near": {"type": "array", "uniqueItems": true, "items": {"$ref": "#"}}}}`
	for value, want := range map[string]string{
		`{"city": "Cairo"}`: "",
		`{"city": "Cairo", "days": 3, "unit": "C", "near": [{"city": "Giza"}]}`: "",
		`{"city": 42}`: "at /city: got number, want string",
		`{"days": 3}`:  "missing property 'city'",
		`{"city": "Cairo", "near": [{"city": "x"}]}`:  "at /near/0/city: minLength: got 1, want 2",
		`{"city": "Cairo", "near": [{}, {}]}`:         "missing property 'city'",
		`{"city": "Cairo", "a": 1}`:                   "additional properties 'a' not allowed",
		`{"city": "Cairo", "days": 1e99999999999999}`: "a number in it has more than 1000 digits",
		`{"city": "Cairo"} x`:                         "something follows its end",
		`{`:                                           "it is not JSON",
	} {
		err := check(t, ordinary, value)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}

func TestEachDraft(t *testing.T) {
	for _, draft := range []string{
		"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
	} {
		document := fmt.Sprintf(`{"$schema": %q, "properties": {"a": {"type": "string"}}}`, draft)
		if err := check(t, document, `{"a": "b"}`); err != nil {
			t.Errorf("%s: %v", draft, err)
		}
		var invalid *schema.Invalid
		if err := check(t, document, `{"a": 1}`); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", draft, err)
		}
	}
}

// doubling is a chain of definitions, each of which refers twice to the next.
func doubling(keyword, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/a0", "$defs": {`)
	for i := range 40 {
		fmt.Fprintf(&b, `"a%d": {%q: [{"$ref": "#/$defs/a%d"}, {"$ref": "#/$defs/a%d"}]},`, i, keyword, i+1, i+1)
	}
	b.WriteString(`"a40": ` + last + `}}`)
	return b.String()
}

func nested(open, middle, end string, n int) string {
	return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
}

func TestHostile(t *testing.T) {
	deep := nested(`{"a":`, "1", "}", 30)
	for name, c := range map[string]struct{ schema, value, want string }{
		"allOf":        {doubling("allOf", "true"), "{}", "too many steps"},
		"anyOf":        {doubling("anyOf", "false"), "{}", "too many steps"},
		"oneOf":        {doubling("oneOf", `{"type": "object"}`), "{}", "too many steps"},
		"draft-07":     {`{"$schema": "http://json-schema.org/draft-07/schema#", ` + doubling("allOf", `{"type": "object"}`)[1:], "{}", "too many steps"},
		"properties":   {`{"not": {"not": {"properties": {"a": {"$ref": "#"}}, "patternProperties": {"a": {"$ref": "#"}}}}}`, deep, "too many steps"},
		"itself":       {`{"$ref": "#"}`, "{}", "refers to itself"},
		"in a circle":  {`{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#"}]}}}`, "{}", "refers to itself"},
		"dynamic":      {`{"$dynamicAnchor": "x", "properties": {"a": {"$dynamicRef": "#x"}}}`, deep, "$dynamicRef"},
		"metaschema":   {`{"$ref": "https://json-schema.org/draft/2020-12/schema"}`, `{"not": {}}`, "$dynamicRef"},
		"other rules":  {`{"$schema": "mem://schema"}`, "{}", "$schema"},
		"fetched":      {`{"$ref": "http://127.0.0.1:1/x"}`, "{}", "127.0.0.1"},
		"a file":       {`{"$ref": "file:///etc/hostname"}`, "{}", "etc/hostname"},
		"deep schema":  {nested(`{"not":`, "{}", "}", 5000), "{}", "nested"},
		"deep value":   {"{}", nested("[", "", "]", 5000), "nested"},
		"large":        {`{"title": "` + strings.Repeat("x", 300<<10) + `"}`, "{}", "bytes"},
		"many":         {`{"enum": [` + strings.Repeat("1,", 6000) + "1]}", "{}", "too many values"},
		"repeats":      {`{"pattern": "(((a{100}){100}){100})"}`, `"a"`, ""},
		"long program": {`{"pattern": "(abcdefghijklmnopqrstuvwxyz|b){1000}"}`, `"a"`, ""},
		"programs":     {`{"allOf": [` + strings.Repeat(`{"pattern": "x{900}"},`, 100) + `true]}`, `"a"`, ""},
		"match":        {`{"pattern": "(x+x+){400}y"}`, `"` + strings.Repeat("x", 900<<10) + `"`, "too many steps"},
		"format":       {`{"$schema": "http://json-schema.org/draft-07/schema#", "format": "regex"}`, `"` + strings.Repeat("(a{1000})", 50<<10) + `"`, "too many steps"},
		"unique":       {`{"uniqueItems": true}`, "[" + strings.Repeat("[[1],2],[[1,2]],", 20000) + "1]", "too many steps"},
		"enum":         {`{"items": {"enum": [` + strings.Repeat("1,", 4000) + `1]}}`, "[" + strings.Repeat("2,", 4000) + "2]", "too many steps"},
		"digits":       {`{"minimum": 1e1000000}`, "1", "digits"},
		"no number": {
			`{"minimum": 1}`, "1e1000001", "digits",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := check(t, c.schema, c.value)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestWidest is the largest schema that is accepted; validating it must end, too.
func TestWidest(t *testing.T) {
	property := func(i int) string { return fmt.Sprintf(`"p%d": {"$ref": "#/properties/p%d"}`, i, i+1) }
	var chain, wide []string
	for i := range 2400 {
		chain = append(chain, property(i))
		wide = append(wide, fmt.Sprintf(`"p%d": {"type": "string"}`, i))
	}
	chain = append(chain, `"p2400": true`)
	for name, document := range map[string]string{
		"chain": `{"properties": {` + strings.Join(chain, ",") + `}}`,
		"wide":  `{"properties": {` + strings.Join(wide, ",") + `}}`,
		"deep":  nested(`{"not":`, "{}", "}", 99),
		"allOf": `{"allOf": [` + strings.Repeat(`{"type": "object"},`, 2400) + `true]}`,
		"refs":  `{"allOf": [` + strings.Repeat(`{"$ref": "#/x/0"},`, 2000) + `true], "x": [{}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_ = check(t, document, `{"p1": "a", "p0": 3}`) // whatever the result is
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	names := make([]string, 500)
	for i := range names {
		names[i] = fmt.Sprintf(`"%s%d": 1`, strings.Repeat("é", 300), i)
	}
	err := check(t, `{"additionalProperties": {"type": "string"}}`, "{"+strings.Join(names, ",")+"}")
	var invalid *schema.Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) != 10 || len(err.Error()) > 10*202 {
		t.Errorf("%d bytes: %v", len(err.Error()), err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	compiled, err := schema.Compile(ctx, []byte(`{"type": "object"}`))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := compiled.Validate(ctx, []byte("{}")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := schema.Compile(ctx, []byte("{}")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte(doubling("allOf", "true")), []byte("{}"))
	f.Add([]byte(`{"properties": {"a": {"$ref": "#"}}, "patternProperties": {"^a": {"pattern": "a{9}"}}}`), []byte(`{"a": {"a": "a"}}`))
	f.Add([]byte(`{"prefixItems": [{"uniqueItems": true}], "items": {"minimum": 1.5, "multipleOf": 0.1}}`), []byte(`[[1, 1.0], 2e3]`))
	f.Add([]byte(`{"$schema": "http://json-schema.org/draft-04/schema#", "dependencies": {"a": ["b"], "c": {"not": {}}}}`), []byte(`{"a": 1, "c": null}`))
	f.Fuzz(func(t *testing.T, document, value []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		compiled, err := schema.Compile(ctx, document)
		if err != nil {
			return
		}
		err = compiled.Validate(ctx, value)
		if ctx.Err() != nil {
			t.Errorf("it took more than 20 s: %v", err)
		}
		if err == nil && !json.Valid(value) {
			t.Error("what is no JSON is valid")
		}
	})
}
