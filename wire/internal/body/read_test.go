package body_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mulligan-run/mulligan/wire/internal/body"
)

// member has every kind of field that the wires read a member of a request into.
type member struct {
	Text    string          `json:"text"`
	Known   *string         `json:"known"`
	Whole   int             `json:"whole"`
	Number  *float64        `json:"number"`
	Is      bool            `json:"is"`
	Maybe   *bool           `json:"maybe"`
	Raw     json.RawMessage `json:"raw"`
	Bytes   []byte          `json:"bytes"`
	Words   []string        `json:"words"`
	Another *member         `json:"another"`
	Inner   struct {
		ID string `json:"inner_id"`
	} `json:"inner"`
	List []struct {
		Kind string          `json:"kind"`
		Args json.RawMessage `json:"args"`
	} `json:"list"`
}

var values = []string{
	`{"text":"a","whole":1,"number":1.5,"is":true,"raw":{"b":[1, 2]},"words":["a"],"inner":{"inner_id":"x"},"list":[{"kind":"k","args":{}},{}]}`,
	`{"TEXT":"a","text":"b","Text":"c"}`, `{"text":1}`, `{"whole":1.0}`, `{"whole":1e2}`, `{"whole":-0}`, `{"whole":9223372036854775808}`, `{"whole":210000000000000000000}`, `{"whole":"1"}`,
	`{"number":1e400}`, `{"number":-0.0}`, `{"number":123456789012345678901234567890}`, `{"number":null}`, `{"is":"true"}`, `{"is":1}`, `{"is":null}`, `{"maybe":false}`,
	`{"bytes":"aGk="}`, `{"bytes":"aGk"}`, `{"bytes":"%"}`, `{"bytes":[1,2]}`, `{"words":[null,"a"]}`, `{"words":[1]}`, `{"words":{}}`, `{"words":null}`, `{"words":[]}`,
	`{"another":{"text":"a","another":{"whole":2}}}`, `{"another":null}`, `{"another":[]}`, `{"inner":null}`, `{"inner":[]}`, `{"list":[null]}`, `{"list":[[]]}`, `{"raw":null}`, `{"raw": "x" }`,
	`{"text":"\ud800"}`, "{\"text\":\"\xff\"}", "{\"raw\":\"\xff\"}", `{"text":"\u0000\/\ud83d\ude00"}`, "{\"t\xffext\":\"a\"}", `{"te\u0078t":"a"}`, `{"known":"a","known":null}`, `{"teſt":"a"}`, `{"iſ":true}`,
	`{"words":["a","b"],"words":["c"]}`, `{"list":[{"kind":"a","args":1}],"list":[{}]}`, `{"inner":{"inner_id":"a"},"inner":{}}`,
	`"s"`, `1`, `[]`, `true`, `{}`, `[{"text":"a"}]`,
}

// TestInto: a value is read, and refused, as json.Unmarshal does.
func TestInto(t *testing.T) {
	for _, value := range values {
		asUnmarshal(t, value)
	}
}

func FuzzInto(f *testing.F) {
	for _, value := range values {
		f.Add(value)
	}
	f.Fuzz(asUnmarshal)
}

// asUnmarshal reads value into everything that the wires read into.
func asUnmarshal(t *testing.T, value string) {
	t.Helper()
	if body.Check([]byte(`{"v":`+value+`}`)) != nil {
		return // nothing else is read
	}
	for _, into := range []func() any{
		func() any { return new(member) },
		func() any { return new([]member) },
		func() any { return new(string) },
		func() any { return new(int) },
		func() any { return new(bool) },
		func() any { return new(*float64) },
		func() any { return new([]string) },
	} {
		got, want := into(), into()
		data := []byte(value)
		err, wanted := body.Into("v", data, got), json.Unmarshal(data, want)
		clear(data) // nobody refers to it
		if (err == nil) != (wanted == nil) {
			t.Fatalf("%.200q into %T: %v, not %v", value, got, err, wanted)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%.200q: %+v, not %+v", value, reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem())
		}
	}
}
