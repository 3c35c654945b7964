package scan

import (
	"encoding/json"
	"strings"
	"testing"
)

var texts = []string{
	`{}`, ` { "a" : 1 , "b\u0020c":[ 1, {"x":"\\\""} , "]" ,-1e9,null ] ,"a":true } `, `{"a":{"b":[[],{}]},"":"\ud83d\ude00"}`, "{\"a\":\"\xff\"}",
	`{"a":"}{][,:","b":"\\","c":false}`, `{"a":1}x`, `{"a"}`, `{`, `["a"]`, ``, `{"a":"`, `{"a":"\`,
	`{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e}`, `{"a":.5}`, `{"a":[1,]}`, `{"a":1,}`, `{"a":nul}`, `{"a":"\x"}`, `{"a":"\u12"}`, "{\"a\":\"\t\"}", "{}\v", "\ufeff{}",
	strings.Repeat(`{"a":`, 300),
	`{"a":` + strings.Repeat("[", 255) + strings.Repeat("]", 255) + `}`, `{"a":` + strings.Repeat("[", 256) + strings.Repeat("]", 256) + `}`,
}

// TestTakenApart: what is taken apart is what encoding/json finds.
func TestTakenApart(t *testing.T) {
	for _, text := range texts {
		asEncodingJSON(t, []byte(text))
	}
}

func FuzzTakenApart(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { asEncodingJSON(t, data) })
}

func asEncodingJSON(t *testing.T, data []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	if Object(data) != "" {
		if json.Unmarshal(data, &want) == nil && want != nil && len(data) < 200 {
			t.Fatalf("%q is refused", data)
		}
		return
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatalf("%q is taken: %v", data, err)
	}
	got := map[string]json.RawMessage{}
	for name, at := range Members(data) {
		got[name] = at.Of(data) // the last of a name counts there
	}
	if len(got) != len(want) {
		t.Fatalf("%q: %q, not %q", data, got, want)
	}
	for name, value := range want {
		if string(got[name]) != string(value) {
			t.Fatalf("%q: %q is %q, not %q", data, name, got[name], value)
		}
		var list []json.RawMessage
		if value[0] == '[' && json.Unmarshal(value, &list) == nil {
			n := 0
			for i, element := range Elements(value) {
				if n++; string(element) != string(list[i]) {
					t.Fatalf("%q: %q, not %q", data, element, list[i])
				}
			}
			if n != len(list) {
				t.Fatalf("%q: %d elements, not %d", data, n, len(list))
			}
		}
		var s string
		if value[0] == '"' && json.Unmarshal(value, &s) == nil && Text(value) != s {
			t.Fatalf("%q: %q, not %q", data, Text(value), s)
		}
	}
}

func TestBounds(t *testing.T) {
	many := `{"a":[` + strings.Repeat("1,", maxValues) + `1]}`
	deep := `{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`
	for text, want := range map[string]string{
		many: "has more than 500000 values", deep: "is more than 256 levels deep",
		"": "is empty", "[]": "is not a JSON object", "{": "is not valid JSON",
	} {
		if problem := Object([]byte(text)); problem != want {
			t.Errorf("%.20q: %q, not %q", text, problem, want)
		}
	}
}
