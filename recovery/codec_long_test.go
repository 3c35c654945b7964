package recovery

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
)

// TestLongTextsAreReadAsTheyAre: the reader for long texts gives what encoding/json gives.
func TestLongTextsAreReadAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string {
			bit := rapid.SampledFrom([]string{"a", "…", "😀", "\"", "\\", "\n", "<", "\u2028", "\x00", "long text 0", "long text -1", "\xff"})
			bits := rapid.SliceOfN(bit, 1, 3).Draw(t, name)
			return strings.Repeat(strings.Join(bits, ""), rapid.SampledFrom([]int{0, 1, longText / 2, longText}).Draw(t, name+" times"))
		}
		args, err := json.Marshal(map[string]string{"x": draw("args")})
		if err != nil {
			t.Fatal(err)
		}
		body := Answered{Attempt: 1, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Text: draw("text")},
			{Thinking: &llm.Thinking{Text: draw("thinking")}},
			{Call: &llm.ToolCall{ID: "1", Name: "n", Args: args}},
			{Result: &llm.ToolResult{CallID: "1", Text: draw("result")}},
		}}}
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		var got, want Answered
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := unmarshalLong(data, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: another answer of %d bytes", err, len(data))
		}
	})
}

// FuzzUnquote: what encoding/json accepts as a string is read here as the same string.
func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{"", `a\n\"\\\/\b\f\r\t`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\ud83d\n`, `\ud83d\ud83d\ude00`, `\u0000\u2028`, "…"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, quoted string) {
		quoted = strings.ToValidUTF8(quoted, "")
		var want string
		if json.Unmarshal([]byte(`"`+quoted+`"`), &want) == nil && unquote([]byte(quoted)) != want {
			t.Errorf("%q is read as %q, not %q", quoted, unquote([]byte(quoted)), want)
		}
	})
}

// TestALongTextIsCopiedOnce: an event with a long answer takes as much memory as that has, in
// addition to its stored form. It is measured three times, since other goroutines allocate, too.
func TestALongTextIsCopiedOnce(t *testing.T) {
	const size = 1 << 20
	stored, err := json.Marshal(Event{Run: "r", Seq: 1, Body: Answered{Message: llm.Message{Parts: []llm.Part{{Text: strings.Repeat("a \"line\"\n", size/9)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	least := uint64(1 << 40)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var e Event
		if err := e.UnmarshalJSON(stored); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if most := uint64(len(stored)) * 5 / 4; least > most {
		t.Errorf("%d bytes are taken to read %d", least, len(stored))
	}
}
