package wire_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/mulligan-run/mulligan/wire"
)

var bodies = map[string]string{ // with the model "n"
	`{"model":"m","a":1}`: `{"model":"n","a":1}`,
	" {\n\t\"a\" : 1e400 , \"model\"  :\t\"m\\u0020\" }\n":         " {\n\t\"a\" : 1e400 , \"model\"  :\t\"n\" }\n",
	`{"model":"m","x":{"model":"m"},"model":{"a":[1]}}`:            `{"model":"n","x":{"model":"m"},"model":"n"}`,
	`{"mod\u0065l":null,"Model":"m"}`:                              `{"mod\u0065l":"n","Model":"m"}`,
	`{"n":12345678901234567890.10,"t":"\ud83d\ude00\/","model":5}`: `{"n":12345678901234567890.10,"t":"\ud83d\ude00\/","model":"n"}`,
	`{"a":["model","m"],"b":"\"model\":\"m\""}`:                    `{"model":"n","a":["model","m"],"b":"\"model\":\"m\""}`,
	`{}`:    `{"model":"n"}`,
	" { } ": ` {"model":"n" } `,
}

func TestWithModel(t *testing.T) {
	for body, want := range bodies {
		got, err := wire.WithModel([]byte(body), "n")
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
	for _, body := range []string{"", "[]", "{", `{"model":"m"`, `{"model"}`, `{} {}`} {
		_, err := wire.WithModel([]byte(body), "n")
		if bad := (*wire.RequestError)(nil); !errors.As(err, &bad) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if got, err := wire.WithModel([]byte(`{}`), `"<q>\`); err != nil || string(got) != `{"model":"\"<q>\\"}` {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzWithModel: apart from the model's name the request stays what it was.
func FuzzWithModel(f *testing.F) {
	for body := range bodies {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := wire.WithModel([]byte(body), "other")
		if err != nil {
			return
		}
		var before, after map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal([]byte(body), &before), json.Unmarshal(got, &after)); err != nil {
			t.Fatalf("%q became %q: %v", body, got, err)
		}
		if string(after["model"]) != `"other"` {
			t.Fatalf("%q became %q", body, got)
		}
		delete(before, "model")
		delete(after, "model")
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", body, got)
		}
	})
}

// TestModelIn: a body names the model that the providers read in it, or is refused.
func TestModelIn(t *testing.T) {
	for body, want := range map[string]string{
		`{"input":"x","model":"m\u00fc"}`:   "mü",
		`{"Model":"m","MODEL":"n"}`:         "",
		`{"inner":{"model":"m"},"model":3}`: "",
		`["model"]`:                         "",
		`{"model":`:                         "",
	} {
		if got, err := wire.ModelIn([]byte(body)); got != want || err != nil {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
	if got, err := wire.ModelIn([]byte(`{"model":"m","model":"m"}`)); err == nil {
		t.Errorf("of two it takes %q", got)
	}
}
