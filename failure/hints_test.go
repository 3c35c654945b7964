package failure

import (
	"testing"
	"time"
)

// TestHintsInBodies are the waits that bodies give in fields or words.
func TestHintsInBodies(t *testing.T) {
	for _, tt := range []struct {
		body string
		want Millis
	}{
		{`{"error":{"message":"Rate limit exceeded","metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1774008060000"}}}}`, 60_000},
		{`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1774011600}}`, 3_600_000},
		{`{"error":{"message":"x"},"retry_after":5}`, 5000},
		{`{"error":"Model m is slow to start","estimated_time":20.0}`, 20_000},
		{`{"error":{"message":"x","details":[{"metadata":{"quotaResetDelay":"21.5s"}}]}}`, 21_500},
		{`{"error":{"message":"x"},"retry_after_ms":"250"}`, 250},
		{`{"error":{"message":"x","resets_in_seconds":30.5}}`, 30_500},
		{`{"error":{"message":"Please wait before trying again. You may wait 30 seconds."}}`, 30_000},
		{`{"error":{"message":"Limit resets in 1h 5m"}}`, 3_900_000},
		{`{"error":{"message":"You can retry after 86400 seconds"}}`, 86_400_000},
		{`{"error":{"message":"It accepts more after 20 s"}}`, 20_000},
		{`{"error":{"message":"in 7m12s"}}`, 0},
		{`{"error":{"message":"Please try again in 7m12s, or in 5 days"}}`, 432_000},
		{`{"error":{"message":"try again in -5s"}}`, 0},
		{`{"error":{"message":"try again in 1e9s or 99999999999999999999 days"}}`, 0},
		{`{"error":{"message":"It resets at 2026-03-20T12:10:00Z"}}`, 600_000},
		{`{"error":{"message":"It resets at 2026-03-20T13:10:00+01:00"}}`, 600_000},
		{`{"error":{"message":"Try again at 2026-03-20 12:10:00 UTC"}}`, 600_000},
	} {
		f := Classify(Evidence{Status: 429, At: testNow, Body: []byte(tt.body)})
		if f.RetryAfter != tt.want {
			t.Errorf("%s: %d ms, want %d", tt.body, f.RetryAfter, tt.want)
		}
	}
}

// TestHowLongItTookIsNoHint: "after" is a wait only if the failure is about a limit.
func TestHowLongItTookIsNoHint(t *testing.T) {
	f := Classify(Evidence{Status: 504, Body: []byte(`{"error":{"message":"Gateway timed out after 30 seconds"}}`)})
	if f.Kind != KindTimeout || f.RetryAfter != 0 {
		t.Errorf("%s after %d ms, want a timeout without a hint", f.Kind, f.RetryAfter)
	}
}

// TestTheRejectedWindowCounts: of Anthropic's windows, only the exhausted one says when to retry.
func TestTheRejectedWindowCounts(t *testing.T) {
	f := Classify(Evidence{Status: 429, At: testNow, Header: map[string][]string{
		"Anthropic-Ratelimit-Unified-Status":    {"rejected"},
		"Anthropic-Ratelimit-Unified-5h-Status": {"rejected"}, "Anthropic-Ratelimit-Unified-5h-Reset": {"1774011600"},
		"Anthropic-Ratelimit-Unified-7d-Status": {"allowed_warning"}, "Anthropic-Ratelimit-Unified-7d-Reset": {"1774400000"},
	}})
	if want := testNow.Add(time.Hour); f.Kind != KindQuota || !f.ResetsAt.Equal(want) || f.RetryAfter != 3_600_000 {
		t.Errorf("%s resets at %s, want a quota until %s", f.Kind, f.ResetsAt, want)
	}
}

// TestALongQuotaHasATime: a reset that is further away than a wait may be sets only ResetsAt.
func TestALongQuotaHasATime(t *testing.T) {
	f := Classify(Evidence{Status: 429, At: testNow, Header: map[string][]string{
		"Anthropic-Ratelimit-Unified-Status": {"rejected"}, "Anthropic-Ratelimit-Unified-Reset": {"1775000000"}, "Retry-After": {"991100"},
	}})
	if want := time.Unix(1_775_000_000, 0); !f.ResetsAt.Equal(want) || f.RetryAfter != 0 {
		t.Errorf("resets at %s after %d ms, want %s", f.ResetsAt, f.RetryAfter, want)
	}
}
