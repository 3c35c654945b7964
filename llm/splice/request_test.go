package splice_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/splice"
)

func TestRequest(t *testing.T) {
	asked := llm.Request{Model: "a/m", System: "Be brief.", Messages: []llm.Message{llm.User("How warm is it?")}, MaxOutputTokens: 100, ReasoningEffort: "high", Native: &llm.Native{}}
	prefilled, err := splice.Request(asked, "It is 14 °C \n", splice.Prefill)
	if err != nil {
		t.Fatal(err)
	}
	if said := prefilled.Messages[1]; len(prefilled.Messages) != 2 || said.Role != llm.RoleAssistant || said.Text() != "It is 14 °C" {
		t.Errorf("%+v", prefilled.Messages)
	}
	if prefilled.MaxOutputTokens != 97 || prefilled.ReasoningEffort != "" || prefilled.Native != nil {
		t.Errorf("%+v", prefilled)
	}
	text := strings.Repeat("é", 150) + " "
	quoted, err := splice.Request(asked, text, splice.Quote)
	if err != nil {
		t.Fatal(err)
	}
	if len(quoted.Messages) != 3 || quoted.Messages[1].Text() != text {
		t.Fatalf("%+v", quoted.Messages)
	}
	last := quoted.Messages[2]
	if want := "<end>" + strings.Repeat("é", 99) + " </end>"; last.Role != llm.RoleUser || !strings.Contains(last.Text(), want) || !strings.Contains(last.Text(), "last 100 characters") {
		t.Errorf("%+v", last)
	}
	if _, err := splice.Request(asked, strings.Repeat("x", 400), splice.Quote); !errors.Is(err, splice.ErrLimit) {
		t.Errorf("nothing is left of the limit: %v", err)
	}
}

// TestAnyRequest: whatever was asked and said, the request for the rest has the same system
// prompt and the same conversation, which ends as the form wants it.
func TestAnyRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := llm.Request{
			Model: "a/m", System: rapid.SampledFrom([]string{"", "Be brief."}).Draw(t, "system"),
			Messages:        rapid.SliceOfN(rapid.Map(rapid.String(), llm.User), 1, 4).Draw(t, "messages"),
			MaxOutputTokens: rapid.IntRange(0, 60).Draw(t, "limit"),
		}
		before := append([]llm.Message{}, asked.Messages...)
		said, form := drawText(t, "said"), drawForm(t)
		got, err := splice.Request(asked, said, form)
		left := asked.MaxOutputTokens - int(llm.Tokens(len(said)))
		if out := asked.MaxOutputTokens > 0 && left <= 0; out != errors.Is(err, splice.ErrLimit) || out != (err != nil) {
			t.Fatalf("%d tokens are left: %v", left, err)
		}
		if err != nil {
			return
		}
		if asked.MaxOutputTokens > 0 && got.MaxOutputTokens != left {
			t.Fatalf("a limit of %d, not %d", got.MaxOutputTokens, left)
		}
		n := len(before)
		if got.System != asked.System || !reflect.DeepEqual(got.Messages[:n], before) || !reflect.DeepEqual(asked.Messages, before) {
			t.Fatalf("%+v of %+v", got, asked)
		}
		switch added := got.Messages[n:]; {
		case strings.TrimSpace(said) == "":
			if len(added) > 0 {
				t.Fatalf("white space is told as an answer: %+v", added)
			}
		case form == splice.Prefill:
			if len(added) != 1 || added[0].Role != llm.RoleAssistant || strings.TrimRightFunc(added[0].Text(), unicode.IsSpace) != added[0].Text() || !strings.HasPrefix(said, added[0].Text()) {
				t.Fatalf("%+v", added)
			}
		default:
			if len(added) != 2 || added[0].Text() != said || added[1].Role != llm.RoleUser || !utf8.ValidString(added[1].Text()) {
				t.Fatalf("%+v", added)
			}
			_, end, _ := strings.Cut(added[1].Text(), "<end>")
			if end = end[:strings.LastIndex(end, "</end>")]; !strings.HasSuffix(said, end) || utf8.RuneCountInString(end) != min(100, utf8.RuneCountInString(said)) {
				t.Fatalf("%q is quoted of %q", end, said)
			}
			last, _ := utf8.DecodeLastRuneInString(said)
			if strings.Contains(added[1].Text(), "They end in white space") != unicode.IsSpace(last) {
				t.Fatalf("%q: %s", said, added[1].Text())
			}
		}
	})
}

func drawForm(t *rapid.T) splice.Form {
	return rapid.SampledFrom([]splice.Form{splice.Prefill, splice.Quote}).Draw(t, "form")
}

// drawText draws text that is likely to be like another, with white space in all places.
func drawText(t *rapid.T, label string) string {
	words := rapid.SampledFrom([]string{"a", "ab", "the cat", "é", " ", "  ", "\n", "\t", "\u00a0", "1. ", "ha ", "the cat sat on the mat and ", strings.Repeat("long ", 30)})
	return strings.Join(rapid.SliceOfN(words, 0, 8).Draw(t, label), "")
}
