package provider_test

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

// TestSpecialTokensAtTheEnd: the special tokens of a model's template are removed at the very end,
// in whatever pieces they arrive. Anywhere else they stay, and so does what only looks like them.
func TestSpecialTokensAtTheEnd(t *testing.T) {
	for said, want := range map[string]string{
		"It is clear.<|im_end|>":                 "It is clear.",
		"It is clear.\n</s>":                     "It is clear.\n",
		"It is clear.<|eot_id|><|eot_id|> \n":    "It is clear.",
		"Clear.<｜end▁of▁sentence｜>":              "Clear.",
		"<|im_end|> is a token.":                 "<|im_end|> is a token.",
		"The token is `<|im_end|>`":              "The token is `<|im_end|>`",
		"It is <|im_end":                         "It is <|im_end",
		"a < b <":                                "a < b <",
		"<s>struck</s>":                          "<s>struck</s>",
		"<b>bold</b>":                            "<b>bold</b>",
		"It is <|unheard_of|>":                   "It is <|unheard_of|>",
		"One<|im_end|> two <|im_end|>":           "One<|im_end|> two ",
		strings.Repeat("<|im_end|>", 3) + "then": strings.Repeat("<|im_end|>", 3) + "then",
	} {
		for size := 1; size <= len(said); size += 3 {
			var body strings.Builder
			for rest := []rune(said); len(rest) > 0; {
				n := min(size, len(rest))
				body.WriteString(strings.ReplaceAll(told(string(rest[:n])), "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n", ""))
				rest = rest[n:]
			}
			s := playing(t, body.String()+ended("stop")+done)
			model, err := s.Model("openai/m")
			if err != nil {
				t.Fatal(err)
			}
			var answer llm.Answer
			repaired := false
			for delta, err := range model.Stream(t.Context(), ask("openai")) {
				if err != nil {
					t.Fatal(err)
				}
				repaired = repaired || delta.Kind == llm.DeltaRepaired && delta.Repairs[0].Kind == llm.RepairTemplate
				answer.Add(delta)
			}
			if got := answer.Message("m").Text(); got != want || repaired != (said != want) || answer.Stop != llm.StopEnd {
				t.Errorf("%q by %d: %q, said %v", said, size, got, repaired)
			}
		}
	}
	// One that was cut keeps what it has.
	answer, err := hear(t.Context(), t, playing(t, told("It is<|im_end|>")), ask("openai"))
	if got := answer.Message("m").Text(); err == nil || got != "It is<|im_end|>" {
		t.Errorf("%q, %v", got, err)
	}
}
