package openai

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// parsing reads every chunk of an answer as if it were the first: nothing is known of another one.
type parsing struct{ *stream }

func (p parsing) Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	p.alike.Forget()
	return p.stream.Decode(data, deltas)
}

// shapes are chunks with places for their texts.
var shapes = []string{
	`{"id":"c","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}`,
	`{"id":"c","choices":[{"index":0,"delta":{"content":"%s"}}],"usage":{"prompt_tokens":1}}`,
	`{"id":"c","choices":[{"delta":{"content":"%s","Content":"over it"}}]}`,
	`{"id":"c","choices":[{"delta":{"Content":"under it","content":"%s"}}]}`,
	`{"id":"c","choices":[{"message":{"content":"beside"},"delta":{"content":"%s"}}]}`,
	`{"id":"c","choices":[{"delta":{"reasoning":"%s"},"message":{"content":"it"}}]}`,
	`{"id":"c","choices":[{"delta":{"content":"%s","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`,
	`{"id":"c","choices":[{"delta":{"content":"%s"}},{"index":1,"delta":{"content":"x"}}]}`,
	`{"id":"c","choices":[{"delta":{"content":[{"type":"text","text":"%s"}]}}]}`,
	`{"id":"c","content":"%s","choices":[]}`,
	`{"id":"%s","choices":[{"delta":{"content":"it"}}]}`,
	`{"id":"c","choices":[{"delta":{"content":"%s"},"error":{"message":"content"}}]}`,
	`{"id":"c","choices":[{"delta":{"content":"%s"},"finish_reason":"stop"}]}`,
	`{"id":"c","choices":[{"delta":{"content":"%s"}]}`,
}

// TestAlikeIsParsed: a chunk that is read by what is known of the one before says what it says when
// it is parsed.
func TestAlikeIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known, parsed := newStream(&plain{}), parsing{newStream(&plain{})}
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			shape := rapid.SampledFrom(shapes).Draw(t, "shape")
			for range rapid.IntRange(1, 5).Draw(t, "chunks") {
				text := rapid.SampledFrom([]string{"word", " a", "", "it", `\u00d8`, `\"`, `"`, `","x":"`, `\`, "Ø", "\xff", "\x01", "\u2028", `","content":"b`}).Draw(t, "text")
				data := strings.Replace(shape, "%s", text, 1)
				want, wantErr := parsed.Decode([]byte(data), nil)
				got, err := known.Decode([]byte(data), nil)
				if !reflect.DeepEqual(got, want) || known.State() != parsed.State() || known.said != parsed.said || fmt.Sprint(err) != fmt.Sprint(wantErr) || errors.Is(err, wire.ErrMalformed) != errors.Is(wantErr, wire.ErrMalformed) {
					t.Fatalf("%s says %+v, %v, and not %+v, %v", data, got, err, want, wantErr)
				}
				if err != nil {
					return
				}
			}
		}
	})
}

// TestAlikeIsRecognised: the chunks of a plain answer are.
func TestAlikeIsRecognised(t *testing.T) {
	s := newStream(&plain{})
	for i, text := range []string{"one", " two", " three"} {
		data := []byte(strings.Replace(shapes[0], "%s", text, 1))
		if _, known := s.alike.Text(data); known != (i > 0) {
			t.Errorf("%q is recognised: %t", text, known)
		}
		if deltas, err := s.Decode(data, nil); err != nil || deltas[len(deltas)-1].Text != text {
			t.Errorf("%+v, %v", deltas, err)
		}
	}
}
