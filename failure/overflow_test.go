package failure

import "testing"

// TestOverflowTellsTheNumbers: the message has the numbers that the provider gave, and no others.
func TestOverflowTellsTheNumbers(t *testing.T) {
	for detail, want := range map[string]string{
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`:                            "It has about 213,462 tokens and m takes 200,000.",
		"prompt token count of 140000 exceeds the limit of 128000":                                                                                            "It has about 140,000 tokens and m takes 128,000.",
		"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).":                                                             "It has about 1,048,577 tokens and m takes 1,048,576.",
		"Your request exceeded model token limit: 262144 (requested: 300000)":                                                                                 "It has about 300,000 tokens and m takes 262,144.",
		"Prompt contains 40000 tokens … too large for model with 32768 maximum context length":                                                                "It has about 40,000 tokens and m takes 32,768.",
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130,012 tokens.":                                            "It has about 130,012 tokens and m takes 128,000.",
		"the request (8,204 tokens) exceeds the available context size (4096 tokens)":                                                                         "It has about 8,204 tokens and m takes 4,096.",
		"This model's maximum context length is 40960 tokens. However, you requested 100 output tokens and your prompt contains at least 40861 input tokens.": "The model takes 40,960 tokens.",
		"input length and `max_tokens` exceed context limit: 199999 + 8192 > 200000":                                                                          "The model takes 200,000 tokens.",
		"Please reduce the length of the messages or completion. Request req_200000":                                                                          "",
	} {
		f := NewFailure(KindContextOverflow, OriginModel, PhaseBeforeFirstEvent, nil)
		f.Model, f.Detail = "a/m", detail
		f.Describe(Words{})
		if want != "" {
			want += " "
		}
		if want += "Retrying unchanged will not help."; f.Message != want {
			t.Errorf("%s:\n got %q\nwant %q", detail, f.Message, want)
		}
	}
}
