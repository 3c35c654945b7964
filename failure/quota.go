package failure

import "strings"

// byQuota tells a used-up plan or day from a limit that passes within minutes, by the identifiers
// and figures beside the words (Google's QuotaFailure and RetryInfo; Anthropic's unified limits).
func (c *reading) byQuota() (verdict, bool) {
	exhausted, _ := c.codeOf(exhaustedCodes)
	const quotaResets = "quota will reset"
	if c.status != 429 && c.spoken != 429 && exhausted.lower == "" && !c.says(quotaResets) {
		return verdict{}, false
	}
	v := verdict{kind: KindQuota, code: exhausted.lower}
	for _, id := range c.body.quotas {
		if lower := strings.ToLower(id); strings.Contains(lower, "perday") || strings.Contains(lower, "per_day") || strings.Contains(lower, "daily") {
			v.by, v.daily = Clue{Source: ClueQuotaID, Where: clueBody, Value: id}, true
			return v, true
		}
	}
	const unified = "Anthropic-Ratelimit-Unified-Status"
	switch status := c.e.header(unified); {
	case bounded(parseDelay(c.body.delay.value)) > longDelay:
		v.by = Clue{Source: ClueHint, Where: c.body.delay.name, Value: c.body.delay.value}
	case c.says(quotaResets) && c.spokenHint(KindQuota).after > longDelay:
		v.by = c.words(quotaResets)
	case strings.EqualFold(status, "rejected"):
		v.by = Clue{Source: ClueHeader, Where: strings.ToLower(unified), Value: status}
	default:
		return c.byMinute(exhausted.lower)
	}
	return v, true
}

// byMinute recognises Google's limits per minute, whose messages also mention a plan and billing.
func (c *reading) byMinute(code string) (verdict, bool) {
	for _, id := range c.body.quotas {
		if lower := flat(id); strings.Contains(lower, "perminute") {
			return verdict{kind: KindRateLimit, code: code, by: Clue{Source: ClueQuotaID, Where: clueBody, Value: id}}, true
		}
	}
	return verdict{}, false
}

var exhaustedCodes = codes("resource_exhausted")

// longDelay is the longest delay of a rate limit: Google's own client treats a longer RetryInfo
// as final.
const longDelay = Millis(300_000)
