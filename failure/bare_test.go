package failure

import "testing"

// TestBare checks what is removed around a message, and what only looks like it.
func TestBare(t *testing.T) {
	for text, want := range map[string]string{
		"slow down":                                     "slow down",
		"slow  down\t now":                              "slow down now",
		"slow\u00a0down":                                "slow down",
		"the prompt is\nlong":                           "the prompt is long",
		"the prompt is\nLong":                           "the prompt is\nLong",
		"the prompt\n\nis long":                         "the prompt\nis long",
		"\x1b[31;1mslow\x1b[0m down\x1b":                "slow down",
		"slow down (request_id: req_12ab)":              "slow down ()",
		"slow down\nRequest ID: 3f2b9a3e-7":             "slow down\n",
		"request identity missing":                      "request identity missing",
		"request id: missing":                           "request id: missing",
		"quest_id=12345678":                             "quest_id=12345678",
		"slow down. Retrying in 5 seconds":              "slow down. ",
		"slow. Retrying in 5 s, retrying in 9.":         "slow. , ",
		"retrying in vain":                              "retrying in vain",
		"java.util.concurrent.ExecutionException: slow": "ExecutionException: slow",
		"org.a.BException, com.c.DException":            "BException, DException",
		"com.c.DExceptionOf.EException":                 "DExceptionOf.EException",
		"Exception.com.c.DException":                    "Exception.com.c.DException",
		"a request_id: abc123, request-id=x12345y, b":   "a , , b",
		"litellm.exceptions.RateLimitException: slow":   "litellm.exceptions.RateLimitException: slow",
		"请求id: 12345678":                                "请求id: 12345678",
	} {
		if got := bare(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestUnframed checks which beginnings say only that something failed.
func TestUnframed(t *testing.T) {
	for text, want := range map[string]string{
		"Agent run failed: LLM request error: slow down":                                           "slow down",
		"openai.APIError: HTTP 429 Too Many Requests: slow down":                                   "slow down",
		"rpc error: code = ResourceExhausted desc = slow down":                                     "slow down",
		"An error occurred (X) when calling the Converse operation (reached max retries: 4): slow": "slow",
		"An error occurred (ThrottlingException) when calling the Converse operation: slow":        "slow",
		"Invalid API key: see the page":                                                            "Invalid API key: see the page",
		"Too many requests: slow down":                                                             "Too many requests: slow down",
		"call to http://host:80 failed: slow down":                                                 "slow down",
		"Error: ": "Error: ",
		"Error:":  "Error:",
		"":        "",
	} {
		if got := unframed(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
