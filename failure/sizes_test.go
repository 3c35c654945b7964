package failure

import (
	"errors"
	"testing"
)

// TestSizes checks that a bound and a larger number of tokens are a prompt that is too long, and that the figures of
// other limits are none.
func TestSizes(t *testing.T) {
	for _, row := range []struct {
		status  int
		message string
		over    bool
	}{
		{0, "tokens: 210,334, limit: 200,000", true},
		{0, "You sent 9001 tokens. This model takes 8192.", true},
		{400, "the conversation needs 300k tokens but the model holds 256k", true},
		{500, "prompt tokens=201000 limit=200000", true},
		{0, "8192 token window, 9100 tokens in prompt", true},
		{422, "input_tokens (150000) must be <= 131072", true},
		{0, "the transcript is 1.2M tokens, far above the 1M window", true},
		{400, "131.5k tokens do not fit, the limit is 131k", true},
		{0, "0.9M tokens of the 1M window", false},
		{0, "1.9 tokens, at most 1.2", false},
		{0, "version 1.5.2k of 9000 tokens, max 0.6k.1", false},
		{0, "tokens: 8000, limit: 8192", false},
		{0, "9001 tokens, and nothing is said of a bound", false},
		{429, "tokens: 31000, limit: 30000", false},
		{0, "limit of 30000 tokens per minute, current 31000", false},
		{0, "used 31000 of the 30000 tokens allowed, resets in 20 s", false},
		{0, "max_tokens 9000 is above 8192, the limit of tokens", false},
		{0, "model gpt-9000 takes 8192 tokens", false},
		{0, "the token of user 900000 is limited to 3 of 1000 projects, ask at 12:30", false},
		{0, "token budget of 8192 exceeded by 9001", false},
	} {
		e := Evidence{Status: row.status, Err: errors.New(row.message)}
		c := gather(&e)
		if _, over := c.bySizes(); over != row.over && row.status != 429 {
			t.Errorf("%q: %v", row.message, over)
		}
		if d := Diagnose(e); (d.Failure.Kind == KindContextOverflow) != row.over {
			t.Errorf("%d %q is %s, by %s", row.status, row.message, d.Failure.Kind, d.Evidence[0])
		}
	}
}
