package proxy

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

// TestUsageInFramesIsTheSum: what failed attempts have used is added to the numbers that the answer
// itself has, on each wire, and nothing else changes.
func TestUsageInFramesIsTheSum(t *testing.T) {
	before := llm.Usage{InputTokens: 100, OutputTokens: 20, CacheReadTokens: 3000, CacheWriteTokens: 40000}
	for name, c := range map[string]struct {
		d           *dialect
		frame, want string
	}{
		"messages": {
			messages,
			`data: {"type":"message_start","message":{"content":[],"usage":{"input_tokens":1,"cache_creation":{"input_tokens":7},"cache_read_input_tokens":2,"cache_creation_input_tokens":3,"output_tokens":4,"service_tier":"x"}}}` + "\n\n",
			`data: {"type":"message_start","message":{"content":[],"usage":{"input_tokens":101,"cache_creation":{"input_tokens":7},"cache_read_input_tokens":3002,"cache_creation_input_tokens":40003,"output_tokens":24,"service_tier":"x"}}}` + "\n\n",
		},
		"messages, the end": {messages, `data: {"type":"message_delta","usage": { "output_tokens": 9 }}`, `data: {"type":"message_delta","usage": { "output_tokens": 29 }}`},
		"chat": {
			chat, `{"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0}}}`,
			`{"usage":{"prompt_tokens":43101,"completion_tokens":22,"total_tokens":43123,"prompt_tokens_details":{"cached_tokens":3000,"audio_tokens":0}}}`,
		},
		"chat, none yet": {chat, `data: {"choices":[{"delta":{"content":"{\"usage\":{\"prompt_tokens\":1}}"}}],"usage":null}`, ""},
		"responses": {
			responsesAPI, `{"response":{"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":1},"output_tokens":2,"total_tokens":3}}}`,
			`{"response":{"usage":{"input_tokens":43101,"input_tokens_details":{"cached_tokens":3001},"output_tokens":22,"total_tokens":43123}}}`,
		},
		"gemini": {
			generate, `{"usageMetadata": {"promptTokenCount": 1,"candidatesTokenCount": 2,"totalTokenCount": 3,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1}]}}`,
			`{"usageMetadata": {"promptTokenCount": 43101,"candidatesTokenCount": 22,"totalTokenCount": 43123,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1}]}}`,
		},
		"what cannot be read": {chat, `{"usage":{"prompt_tokens":1,`, ""},
		"a broken number":     {chat, `{"usage":{"prompt_tokens":1.5,"completion_tokens":-2}}`, ""},
	} {
		want := c.want
		if want == "" {
			want = c.frame
		}
		if got := string(c.d.usage.plus([]byte(c.frame), before)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if got := string(c.d.usage.plus([]byte(c.frame), llm.Usage{})); got != c.frame {
			t.Errorf("%s: without a failure it says %s", name, got)
		}
	}
}

// TestUsageOfAnAnswerAsItCame: an attempt that follows on the same wire says what both have used, in
// its frames, too.
func TestUsageOfAnAnswerAsItCame(t *testing.T) {
	c := commit{mode: ModeContinue, usages: messages.usage}
	c.began(1, "p/m")
	c.heard(1, llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 3, OutputTokens: 1}})
	c.began(2, "p/n")
	c.heard(2, llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Data: []byte(`data: {"usage":{"input_tokens":5,"output_tokens":2}}`)}})
	c.heard(2, llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 5, OutputTokens: 2}})
	out := c.whole()
	if len(out) != 2 || !strings.HasSuffix(string(out[0].Frame.Data), `{"input_tokens":8,"output_tokens":3}}`) || out[1].Usage.InputTokens != 8 {
		t.Errorf("%s, %+v", out[0].Frame.Data, out)
	}
}

func FuzzUsagePlus(f *testing.F) {
	f.Add([]byte(`{"usage":{"prompt_tokens":1,"x":[{"y":2}],"total_tokens":3}}`))
	f.Add([]byte(`{"usage":{"usage":{"prompt_tokens":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range []*dialect{messages, chat, responsesAPI, generate} {
			if got := d.usage.plus(data, llm.Usage{InputTokens: 1}); len(got) < len(data) && !strings.Contains(string(data), "0") {
				t.Errorf("%q became %q", data, got)
			}
		}
	})
}
