package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// Lines end with LF only, are as long as they like up to a bound, and the last may lack its
// end.
func TestLines(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 200<<10) + `"}`
	in := newLines(strings.NewReader("{\"u\":\"\u2028\"}\r\n" + long + "\n\n{}"))
	for _, want := range []string{"{\"u\":\"\u2028\"}", long, "", "{}"} {
		got, err := in.next()
		if err != nil || string(got) != want {
			t.Fatalf("%d bytes, wanted %d: %v", len(got), len(want), err)
		}
	}
	if _, err := in.next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	endless := newLines(io.LimitReader(zeros{}, maxLine+1<<20))
	if _, err := endless.next(); !errors.Is(err, errLongLine) {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// What is read of an event does not depend on what it repeats.
func TestUpdateIsReadInPieces(t *testing.T) {
	partial := `{"role":"assistant","content":[{"type":"text","text":"a \"quote\\\" and }] \\"}],"assistantMessageEvent":{"type":"text_delta","delta":"no"}}`
	for _, b := range []string{
		`{"type":"message_update","message":` + partial + `,"assistantMessageEvent":{"type":"text_delta","contentIndex":2,"delta":"yes\n","partial":` + partial + `}}`,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":2,"delta":"yes\n"},"usage":{}}`,
	} {
		l, err := readLine([]byte(b))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := l.event(); err != nil || e.kind != says || e.delta.Text != "yes\n" || e.delta.Index != 2 {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

// Of every JSON object the members are those that encoding/json finds, and nothing makes
// the reader fail in another way than by an error.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1,"b":[{"c":"}\""}],"d":null}`, `{"a":"\\"}`, `{"a":}`, `{"a" : true , "b":-1e9}`, `[1]`, `{"type":"message_end","message":{"role":"assistant","usage":{"input":1}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]json.RawMessage{}
		err := members(b, func(key string, value json.RawMessage) { got[key] = value })
		if l, lineErr := readLine(b); lineErr == nil {
			_, _ = l.event() // an error is as good
		}
		want := map[string]json.RawMessage{}
		if !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) || json.Unmarshal(b, &want) != nil || bytes.Contains(b, []byte(`\u`)) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		for key, value := range want {
			quoted, _ := json.Marshal(key)
			if !bytes.Contains(b, quoted) {
				return // a key that is written in another way
			}
			if !bytes.Equal(got[strings.Trim(string(quoted), `"`)], value) {
				t.Fatalf("%q: %s is %q, not %q", b, quoted, got[key], value)
			}
		}
	})
}
