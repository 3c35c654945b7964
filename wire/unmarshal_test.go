package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type document struct {
	ID   string          `json:"id"`
	Raw  json.RawMessage `json:"raw"`
	List []struct {
		Index *int  `json:"index"`
		Count int64 `json:"count"`
	} `json:"list"`
}

var documents = []string{
	`{"id":"a","raw":{"b":[1]},"list":[{"index":1},{}]}`, ` {"id":"x"} `, `{"id":1,"list":[{"index":2}]}`, `{}{}`, `{} x`, `{`, ``, `null`, `12`, `"s"`,
	`[1]`, "{}\v", `{"id":"` + strings.Repeat("x", 2*small) + `"}`, `{"unknown":{"id":"a"},"id":"b"}`, `nul`, "\ufeff{}", `{"id":"\ud800"}`, "{\"id\":\"\xff\"}", "{\"id\":\"\t\"}", `{"ID":"a","id":"b","Id":"c"}`, `{"id":"a\/b\n\u00e9"}`,
	`{"list":[{"count":9223372036854775807}]}`, `{"list":[{"count":9223372036854775808}]}`, `{"list":[{"count":210000000000000000000}]}`,
	strings.Repeat(`{"raw":`, small/8) + "1" + strings.Repeat("}", small/8), strings.Repeat("[", 9<<20),
}

// TestUnmarshal: each document is read, and refused, as json.Unmarshal does.
func TestUnmarshal(t *testing.T) {
	for _, text := range documents {
		asUnmarshal(t, text)
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, text := range documents {
		f.Add(text)
	}
	f.Fuzz(asUnmarshal)
}

func asUnmarshal(t *testing.T, text string) {
	t.Helper()
	var got, want document
	data := []byte(text)
	err, wanted := Unmarshal(data, &got), json.Unmarshal(data, &want)
	clear(data) // nobody refers to it
	if (err == nil) != (wanted == nil) || err != nil && err.Error() != wanted.Error() {
		t.Fatalf("%.100q: %v, not %v", text, err, wanted)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%.100q: %+.200v, not %+.200v", text, got, want)
	}
}

func TestUnmarshalCostsLittle(t *testing.T) {
	data := []byte(`{"object":"chunk","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}`)
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
			} `json:"delta"`
		} `json:"choices"`
	}
	each := testing.AllocsPerRun(100, func() {
		chunk.Choices = chunk.Choices[:0]
		if err := Unmarshal(data, &chunk); err != nil {
			t.Fatal(err)
		}
	})
	if each > 4 { // json.Unmarshal needs 9
		t.Errorf("a chunk takes %v allocations", each)
	}
}
