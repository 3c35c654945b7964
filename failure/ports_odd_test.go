package failure

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// oddCases are the cases that the tables lack: every status and kind, the forms of a hint, and
// invalid input.
func oddCases() (list []portCase) {
	add := func(row portCase) {
		row.ID = fmt.Sprintf("odd:%d", len(list)+1)
		list = append(list, row)
	}
	for _, status := range []int{-1, 0, 100, 199, 200, 204, 299, 600, 999} {
		add(portCase{Status: status, At: testNow})
	}
	for status := 300; status < 600; status++ {
		if kind, _ := kindOfStatus(status); status < 309 || kind != KindInvalidRequest && kind != KindMisconfigured && status < 532 {
			add(portCase{Status: status, Provider: "openai-work", Model: "openai-work/gpt"})
		}
	}
	for _, kind := range append(Kinds(), "of_tomorrow") {
		add(portCase{Kind: kind, Provider: "groq", Model: "groq/x", Status: 500})
		add(portCase{Kind: kind, Phase: PhaseMidStream, Error: &portText{Head: "x509: certificate has expired"}})
	}
	for _, phase := range []Phase{PhasePrompt, PhaseBeforeConnect, PhaseBeforeFirstEvent, PhaseMidStream, PhaseEndOfStream, PhaseTool} {
		for _, text := range []string{"EOF", "connection reset by peer", "", "the quota is exceeded"} {
			add(portCase{Phase: phase, Error: &portText{Head: text}, TimedOut: text == ""})
		}
		add(portCase{Phase: phase, Status: 200})
		add(portCase{Phase: phase, Status: 200, Body: portText{Head: "data"}})
	}
	for _, row := range oddHeaders {
		add(portCase{Status: 429, Provider: "anthropic", Model: "anthropic/m", Headers: row, At: testNow})
		add(portCase{Status: 429, Headers: row})
	}
	for _, text := range oddTexts {
		add(portCase{Status: 429, Body: text, At: testNow, Provider: "mistral", Model: "mistral/m"})
		add(portCase{Body: text})
		if utf8.ValidString(text.String()) {
			add(portCase{Error: &text, At: testNow})
		}
	}
	return list
}

var oddHeaders = []map[string]string{
	{"Retry-After": "7"},
	{"Retry-After": "7.0001"},
	{"retry-after": "1e2"},
	{"Retry-After": "-1"},
	{"Retry-After": "NaN"},
	{"Retry-After": "+Inf"},
	{"Retry-After": "0x10"},
	{"Retry-After": "1_0"},
	{"Retry-After": ""},
	{"Retry-After": " 5 "},
	{"Retry-After": "604800"},
	{"Retry-After": "604801"},
	{"Retry-After": "Fri, 20 Mar 2026 12:05:00 GMT"},
	{"Retry-After": "Friday, 20-Mar-26 12:05:00 UTC"},
	{"Retry-After": "Fri Mar 20 12:05:00 2026"},
	{"Retry-After": "Fri, 20 Mar 2026 13:05:00 +0100"},
	{"Retry-After": "Fri, 31 Feb 2026 12:05:00 GMT"},
	{"Retry-After": "fri, 20 mar 2026 12:05:00 GMT"},
	{"Retry-After": "Fri, 20 Mar 2026 12:05:00.25 GMT"},
	{"Retry-After-Ms": "1500.2"},
	{"Retry-After-Ms": "1500", "Retry-After": "1"},
	{"Date": "Fri, 20 Mar 2026 12:00:30 GMT", "Retry-After": "Fri, 20 Mar 2026 12:05:00 GMT"},
	{"X-RateLimit-Reset-Requests": "6m0s", "X-RateLimit-Remaining-Requests": "0"},
	{"X-RateLimit-Reset-Requests": "6m0s", "X-RateLimit-Remaining-Requests": "3"},
	{"X-RateLimit-Reset": "1774008060"},
	{"X-RateLimit-Reset": "1774008060000"},
	{"RateLimit-Reset": "30"},
	{"X-Ratelimit-Reset": "2026-03-20T12:10:00.1234567Z"},
	{"X-Ratelimit-Reset": "2026-03-20T12:10:00.1234567+24:00"},
	{"X-Ratelimit-Reset": "2026-03-20T1:10:00Z"},
	{"X-Ratelimit-Reset": "2026-02-29T12:10:00Z"},
	{"X-Ratelimit-Reset": "1h2m3.5s"},
	{"X-Ratelimit-Reset": "12ms"},
	{"X-Ratelimit-Reset": "12us"},
	{"X-Ratelimit-Reset": "12µs5ns"},
	{"X-Ratelimit-Reset": ".5s"},
	{"X-Ratelimit-Reset": "0"},
	{"X-Ratelimit-Reset": "99999999999999999999h"},
	{"X-Ratelimit-Reset": "1.99999999999999999999s"},
	{"Anthropic-Ratelimit-Unified-Status": "Rejected", "Anthropic-Ratelimit-Unified-Reset": "1774011600"},
	{"Anthropic-Ratelimit-Unified-Status": "rejected", "Anthropic-Ratelimit-Unified-Reset": "1775000000", "Retry-After": "991100"},
	{"X-Should-Retry": "FALSE", "X-Request-Id": "req_1"},
	{"X-Should-Retry": "true", "request-id": "req_2", "X-Request-Id": "req_3"},
	{"Cf-Mitigated": "challenge"},
	{"Content-Type": "text/html; charset=utf-8"},
	{"X-Amzn-Errortype": "ThrottlingException:http://x"},
	{"X-Request-Id": strings.Repeat("é", 100)},
}

// oddTexts are bodies and errors; some are long.
var oddTexts = []portText{
	{Head: "quota exceeded. Retrying in 5 s, then retrying in 9.", Tail: " slow down"},
	{Head: "org.a.CallException, com.quota.exceeded.CallException: sorry"},
	{Head: "a request_id: abc123, request-id=x12345y, the request timed out"},
	{Unit: "Exception", Times: 900, Tail: " com.a.Exception: timed out"},
	{Head: `{"error":{"message":"Please retry in 40.02s","details":[{"retryDelay":"40s"},{"quotaId":"RequestsPerMinute"}]}}`},
	{Head: `{"error":{"message":"m","details":[{"retryDelay":"4000s"},{"quotaId":"GenerateRequestsPerDayPerProject"}]}}`},
	{Head: `{"error":{"message":"x"},"retry_after":5}`},
	{Head: `{"error":{"message":"x"},"retry_after_ms":"250"}`},
	{Head: `{"error":{"message":"x","metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1774008060000"}}}}`},
	{Head: "You will regain access on 2026-04-01 at 00:00 UTC."},
	{Head: "It resets at 2026-03-20T13:10:00+01:00, so"},
	{Head: "try again at 2026-03-20 12:10:00"},
	{Head: "the weekly limit is used up; it resets at 9999-12-31T23:59:59-07:00"},
	{Head: "the weekly limit is used up; it resets at 9999-12-31T23:59:59Z"},
	{Head: "until 2026-03-20 12:10 utc"},
	{Head: "resets on 2026-03-21x"},
	{Head: "resets on 2026-03-21 ÿ"},
	{Head: "wait 1h 5m, or after 3 days"},
	{Head: "The prompt has 210,000 tokens > 200,000 maximum context"},
	{Head: "This model's maximum context length is 8192 tokens. However, you requested 10_000 tokens"},
	{Head: `{"error":{"message":"input token count of 1200000 exceeds the limit of 1048576"}}`},
	{Head: "use sk-proj-abcdefghijklmnopqrstuvwxyz at http://u:secret@h/ with Bearer abcdefghijklmnopqrstuvwx"},
	{Head: "<html><style>b{}</style><body>&lt;b&gt;Bad &amp; <script>var x = {\"error\": 1}</script>&nbsp;gateway &#8217;&#x1F600;&#0;&#xD800;&#128;&hellip;&notit;&ampx"},
	{Head: "&quot;error&quot;: {&quot;message&quot;: &quot;over capacity&quot;}"},
	{Head: `data: {"error":{"message":"overloaded"}}` + "\n\nevent: done\nretry: 7"},
	{Head: `Error code: 429 - {'error': {'message': 'it\'s full', 'code': None, 'type': u'tokens'}}`},
	{Head: `{ status: 429, code: Some("x"), message: ` + "`y` } tail"},
	{Head: "\xff\xfe{\"error\":\"\\ud800\\udc00 \\ud83d\\ude00 \\u12 \xe4\xbd\"}"},
	{Head: "\"just a string\""},
	{Head: "\"{\\\"error\\\":\\\"quota exceeded\\\"}\""},
	{Head: `{"type":"error","error":{"type":"com.amazon#ThrottlingException","message":"Rate exceeded"}}`},
	{Head: "An error occurred (AccessDeniedException) when calling"},
	{Head: "ThrottlingException: Too many requests"},
	{Head: `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":""}}]}`},
	{Head: `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":[{"type":"text","text":" "}]}}]}`},
	{Head: `{"content":[],"stop_reason":"end_turn"}`},
	{Head: "APIError: RateLimitError: 429 slow down"},
	{Head: "Error: 500 tokens"},
	{Head: "d'中 and l’한도 begin with an article, and nothing follows it"},
	{Head: "status code: 503."},
	{Head: "http error 404-x"},
	{Head: "404 page not found\n"},
	{Head: "request failed\n    at f (x.js:1:2)\n  File \"a.py\", line 3\ngoroutine 1 [running]:\nmain.main()"},
	{Head: "failed at async f (x.js:10:2) more"},
	{Head: "İSTANBUL ΣΑΣ ſ K ŒUVRE rate limıt"},
	{Head: "\u0085\ufeff\u2028 x\u00a0y \x1c z\x7f"},
	{Head: "L’accès n’est pas autorisé. Votre solde est insuffisant !"},
	{Head: "ContentPolicyViolation model_is_deactivated APIError2Go HTTPStatus"},
	{Head: "이 모델의 할당량이 초과되었습니다"},
	{Head: "残高が不足しています。クレジットを追加してください。"},
	{Head: "лимит запросов превышен, попробуйте позже"},
	{Head: "model is not available on your plan, try again later"},
	{Unit: `{"error":"`, Times: 60},
	{Unit: "[", Times: 70_000},
	{Unit: `{"a":`, Times: 20_000},
	{Unit: "\"", Times: 66_000},
	{Unit: `\`, Times: 66_000},
	{Unit: "'", Times: 5_000},
	{Unit: `{'a':'`, Times: 12_000},
	{Unit: "<a", Times: 20_000},
	{Unit: "at x:1:2", Times: 500},
	{Unit: " at 1:1", Times: 500},
	{Unit: "1", Times: 70_000},
	{Unit: "retry in 1", Times: 4_000},
	{Unit: "啊", Times: 30_000},
	{Head: "a", Unit: "啊", Times: 30_000},
	{Unit: "quota ", Times: 20_000},
	{Unit: "error: ", Times: 9_000},
	{Unit: "maximum context length is ", Times: 3_000},
	{Head: "{\"message\":\"", Unit: "é", Times: 5_000, Tail: "\"}"},
	{Head: "{\"message\":\"", Unit: "x", Times: 8_200, Tail: "\"}"},
	{Unit: "\xff", Times: 3_000},
	{Unit: "\xff ", Times: 900},
	{Head: `{"error":{"message":"` + "quota", Unit: " x", Times: 4_090, Tail: ` exceeded"}}`},
	{Unit: `{"code":"x","message":"y"},`, Times: 100},
	{Unit: "😀", Times: 4_000},
}

// mutant is one of the cases with a piece of another one, or of a hostile text.
func mutant(dice *rand.Rand, row, other portCase) portCase {
	body, said := row.Body.String(), ""
	if row.Error != nil {
		said = row.Error.String()
	}
	for range 1 + dice.IntN(4) {
		if said != "" && (body == "" || dice.IntN(2) == 0) {
			said = strings.ToValidUTF8(mangled(dice, said, other), "?")
		} else {
			body = mangled(dice, body, other)
		}
	}
	row.Body = portText{Head: body}
	if row.Error != nil {
		row.Error = &portText{Head: said}
	}
	switch dice.IntN(5) {
	case 0:
		row.Status = other.Status
	case 1:
		row.Headers = other.Headers
	case 2:
		row.Phase = other.Phase
	}
	return row
}

// most limits the length of a mutant, which keeps a test of many mutants quick.
const most = 1500

func mangled(dice *rand.Rand, text string, other portCase) string {
	text = text[:min(len(text), most)]
	i := dice.IntN(len(text) + 1)
	j := i + dice.IntN(min(len(text)-i, 40)+1)
	switch dice.IntN(6) {
	case 0:
		return text[:i] + text[j:]
	case 1:
		return text[:j] + text[i:]
	case 2:
		return text[:i] + strings.ToUpper(text[i:j]) + text[j:]
	case 3:
		donor := other.Body.String()
		if other.Error != nil {
			donor = other.Error.String()
		}
		from := dice.IntN(len(donor) + 1)
		return text[:i] + donor[from:from+dice.IntN(min(len(donor)-from, 200)+1)] + text[j:]
	}
	return text[:i] + hostileBits[dice.IntN(len(hostileBits))] + text[j:]
}

var hostileBits = []string{
	"\"", "'", "`", "\\", "{", "}", "[", "]", ":", ",", " ", "\n", "\t", "\r", "\\\"", "\\n", "\\u00e9", "\\ud800", "\\ud83d\\ude00", "\\u", "null", "None", "Some(", "b'", "u\"",
	"<", ">", "</", "<script>", "<b>", "&quot;", "&lt;", "&amp;", "&#39;", "&#x41;", "&nbsp", "&eacute;", "&", "#", ";", "İ", "Σ", "ß", "K", "ſ", "é", "\u0085", "\u00a0", "\ufeff",
	"\u2028", "\x1c", "\x00", "\x7f", "\ufffd", "😀", "额度不足", "超过", "残高", "쿼터", "квота", "\xff", "\xe4", "\xed\xa0\x80", "429", " 503 ", "status: 404", "error: ", "Error", ".", "...",
	"retry in 7s", "after 3 minutes", "1e5", "-1", "resets at 2026-03-20T12:10:00Z", "until 2026-04-01", "per day", "limit", "quota", "model", "not found", "timeout", "EOF",
	"\"error\":", "\"code\":", "\"message\":", "\"content\":\"\"", "message: '", "data: ", "event: x\n", "    at f (x.js:1:2)\n", "goroutine 7 [", "Traceback (most recent call last)",
	"sk-abcdefghijklmnop", "Bearer ", "://a:b@c", "maximum context length is 8,192", "128000 tokens > 100000", "_", "-", "/", "(", ")", "|", "’", "l'", "n't ", "API", "camelCase",
}

// fuzzMutants is how many mutants each port classifies in addition to the golden rows.
const fuzzMutants = 6000

func mutants(from []portCase, seed uint64) (list []portCase) {
	dice := rand.New(rand.NewPCG(seed, 17))
	for i := range fuzzMutants {
		row := mutant(dice, from[dice.IntN(len(from))], from[dice.IntN(len(from))])
		row.ID = fmt.Sprintf("mutant:%d:%d", seed, i)
		list = append(list, row)
	}
	return list
}

// goldenMutants has one mutant of every fourth case, made from that case and the next one, so that
// a new case leaves most mutants unchanged.
func goldenMutants(from []portCase) (list []portCase) {
	for i := 0; i+1 < len(from); i += 4 {
		seed := fnv.New64a()
		_, _ = seed.Write([]byte(from[i].ID))
		row := mutant(rand.New(rand.NewPCG(seed.Sum64(), 17)), from[i], from[i+1])
		row.ID = "mutant:" + row.ID
		list = append(list, row)
	}
	return list
}
