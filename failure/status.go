package failure

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// kindOfStatus is the kind, and the variant, that an HTTP status means by itself; "" for success.
func kindOfStatus(status int) (Kind, string) {
	switch {
	case status >= 300 && status < 400:
		return KindMisconfigured, "redirect"
	case status == 401:
		return KindAuth, ""
	case status == 402:
		return KindBilling, ""
	case status == 403:
		return KindAuth, "permission"
	case status == 404:
		return KindModelNotFound, ""
	case status == 405:
		return KindMisconfigured, "no_api"
	case status == 407:
		return KindMisconfigured, VariantProxy
	case status == 408, status == 504, status == 522, status == 524:
		return KindTimeout, ""
	case status == 409, status == 424, status == 425, status == 499:
		return KindUnavailable, ""
	case status == 410:
		return KindModelNotFound, ""
	case status == 413:
		return KindContextOverflow, ""
	case status == 429:
		return KindRateLimit, ""
	case status == 451:
		return KindAuth, "region"
	case status >= 400 && status < 500, status == 501:
		return KindInvalidRequest, ""
	case status == 503, status == 529:
		return KindOverloaded, ""
	case status >= 500:
		return KindUnavailable, ""
	}
	return "", ""
}

// isOdd reports whether status is defined by no standard: it is somebody's own, and weaker evidence
// than words.
func isOdd(status int) bool {
	switch {
	case status >= 400 && status <= 431, status == 440, status == 444, status == 451, status == 460, status == 498, status == 499:
		return false
	case status >= 500 && status <= 510, status >= 520 && status <= 530, status == 598, status == 599:
		return false
	}
	return status >= 400
}

// httpStatus reads a number that can be the status of a failure.
func httpStatus(s string) (int, bool) {
	if !mayBeNumber(s) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 300 && n <= 599
}

var (
	// statusLeads may precede a number at the beginning of a message.
	statusLeads = []string{"error: ", "error ", "http error ", "http/1.1 ", "http/2 ", "http "}
	// statusNames are names of fields that hold a status.
	statusNames = []string{"status code", "status_code", "statuscode", "http status", "http error", "error code", "status", "returned", "responded with", "failed with", "error,", "failed,", "failure,", "failed (", "error (", "request (", "response (", "solicitud (", "respuesta (", "requête (", "réponse (", "anfrage (", "antwort (", "solicitação (", "requisição (", "resposta (", "richiesta (", "risposta (", "запрос (", "ответ (", "请求 (", "请求(", "请求（", "响应 (", "响应(", "响应（", "リクエスト (", "リクエスト(", "リクエスト（", "요청 (", "요청(", "失败 (", "失败(", "失败（", "失敗 (", "失敗(", "失敗（", "エラー (", "エラー(", "エラー（", "실패 (", "실패(", "오류 (", "오류(", "falhou (", "falló (", "fallo (", "fallito (", "fallita (", "fehlgeschlagen (", "échoué (", "échouée (", "échec (", "fehler (", "erreur (", "erro (", "errore (", "ошибка (", "не удалось (", "сбой (", "错误 (", "错误(", "错误（", "状态码", "错误码", "返回", "ステータス", "コード", "상태 코드", "오류 코드", "код ошибки", "код ответа", "код", "ошибка", "статус", "fehler", "erreur", "errore", "erro", "código", "codigo", "código de estado", "fehlercode", "code", "http/1.1", "http/2", "http", "api", "v1/messages\"", "chat/completions\"", "v1/responses\""}
	// statusPhrases are statuses with their names, wherever they are said.
	statusPhrases = []string{
		"400 bad request", "401 unauthorized", "402 payment required", "403 forbidden", "404 not found", "404 page not found", "408 request timeout",
		"413 payload too large", "413 request entity too large", "422 unprocessable", "429 too many requests", "500 internal server error",
		"401 error", "402 error", "403 error", "404 error", "429 error", "500 error", "502 error", "503 error", "504 error", "529 error", "400 from ", "401 from ", "402 from ", "403 from ", "429 from ", "500 from ", "502 from ", "503 from ", "504 from ", "529 from ", "502 bad gateway", "503 service unavailable", "503 service temporarily unavailable", "504 gateway time",
	}
	// wideStops may follow a status in Chinese and Japanese, or where a message was cut.
	wideStops = []string{"…", "，", "。", "：", "；", "！", "）", "、"}
	// countNouns follow a number that counts something.
	countNouns = []string{
		"tokens", "requests", "messages", "items", "words", "bytes", "characters", "chars", "times ", "files", "lines", "rows", "calls",
		"users", "attempts", "retries", "tools", "ms ", "s ", "sec ", "seconds", "milliseconds", "minutes", "hours", "days", "kb ", "mb ",
		"gb ", "条", "个", "次", "件", "字", "行", "秒", "分", "毫秒", "개", "건", "초", "usd", "dollars", "euros", "cents", "of ", "and ", "or ", "to ", "out of", "per ", "more ", "less ", "x ",
	}
)

// spokenStatus is the number at the beginning of text, after the name of a status field, before its
// own name, or after the colon of an HTTP error; text is in lower case. A number anywhere else is
// not a status.
func (c *reading) spokenStatus() int {
	text := c.text
	lead := strings.TrimLeft(text, " \n[(")
	for range maxLeads {
		if n, ok := leadingStatus(withoutLeads(lead)); ok {
			return n
		}
		i := strings.Index(lead[:min(len(lead), maxLead)], ": ")
		if i < 0 || !strings.HasSuffix(lead[:i], "error") && !strings.HasSuffix(lead[:i], "exception") && (!isFrame(lead[:i]) || strings.HasSuffix(lead[:i], "code")) {
			break
		}
		lead = lead[i+len(": "):]
	}
	for _, name := range statusNames {
		if c.grams.lacks(name) {
			continue
		}
		if n, ok := namedStatus(text, name); ok {
			return n
		}
	}
	phrase, _ := c.saysAny(statusPhrases)
	if i := strings.Index(text, phrase); phrase != "" && (i == 0 || !words.IsWord(text[i-1])) {
		n, _ := httpStatus(phrase[:3])
		return n
	}
	return c.statusFrom(text)
}

// statusFrom reads the status of "HTTP error from the provider: 400".
func (c *reading) statusFrom(text string) int {
	const name, colon = "http error ", ": "
	if !c.says(name) {
		return 0
	}
	_, text, _ = strings.Cut(text, name)
	i := strings.Index(text[:min(len(text), maxLead)], colon)
	if i < 0 {
		return 0
	}
	n, _ := leadingStatus(text[i+len(colon):])
	return n
}

// maxLeads is how many names of errors may stand before a status ("APIError: RateLimitError: 429
// slow down"), and maxLead how long each may be, in bytes.
const (
	maxLeads = 4
	maxLead  = 48
)

func withoutLeads(text string) string {
	for range 2 {
		for _, words := range statusLeads {
			text = strings.TrimPrefix(text, words)
		}
	}
	return text
}

func namedStatus(text, name string) (int, bool) {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return 0, false
		}
		whole := i == 0 || !words.IsWord(rest[i-1]) || rest[i-1] == '_' // provider_http_402
		rest = rest[i+len(name):]
		if n, ok := leadingStatus(strings.TrimLeft(rest, " :=\"'(_：（")); ok && whole {
			return n, true
		}
	}
}

// isWideStop reports whether text begins with a stop of a language that writes wide characters.
func isWideStop(text string) bool {
	return slices.ContainsFunc(wideStops, func(stop string) bool { return strings.HasPrefix(text, stop) })
}

// leadingStatus reads the status that text begins with. A number that goes on as an amount, an
// identifier, a date or a count is not one.
func leadingStatus(text string) (int, bool) {
	if len(text) < 3 {
		return 0, false
	}
	n, ok := httpStatus(text[:3])
	if !ok || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	rest := text[3:]
	switch {
	case rest == "":
		return n, true
	case isWideStop(rest):
		return n, true
	case words.IsWord(rest[0]), rest[0] >= 0x80, strings.IndexByte("%$#*+@", rest[0]) >= 0:
		return 0, false
	case rest[0] == ':' && len(rest) > 1 && isASCIILetter(rest[1]): // http_500:boom
		return n, true
	case strings.IndexByte(".,:-/", rest[0]) >= 0 && len(rest) > 1 && words.IsWord(rest[1]):
		return 0, false
	}
	noun := strings.TrimLeft(rest, " ") + " "
	for _, count := range countNouns {
		if strings.HasPrefix(noun, count) {
			return 0, false
		}
	}
	return n, true
}
