package recovery

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits on what is read of a body, so that reading it is linear and bounded.
const (
	maxNesting  = 4       // of JSON inside strings
	maxWords    = 8 << 10 // of the words that the wording rules look at
	maxSignals  = 64      // codes, and messages
	maxTextScan = 64 << 10
)

// signals is what a body says, wherever in its wrappings it says it: {"error":{…}},
// {"type":"error",…}, an array of them, a JSON document inside a string, a stream event, a
// page of HTML around any of these, or a document that was cut short.
type signals struct {
	codes     []string // of type, code, status, reason and the like, as written
	quotas    []string // of quotaId and the like, in lower case
	status    int      // the first number of a field that names a status
	words     []string // of message and the like
	delay     string   // RetryInfo.retryDelay
	requestID string
	isError   bool // an error member or envelope was seen
	members   bool // it is JSON, or has JSON in it
}

// field says what a JSON member means to us, by its name in lower case.
type field uint8

const (
	fieldOther field = iota
	fieldCode
	fieldStatus
	fieldWords
	fieldQuota
	fieldDelay
	fieldRequestID
	fieldError
	fieldBlocked
	fieldRefusal
	fieldForeign // text of a person, a model or a tool: never evidence
)

var fields = map[string]field{
	"type": fieldCode, "code": fieldCode, "status": fieldCode, "reason": fieldCode, "__type": fieldCode,
	"error_code": fieldCode, "errorcode": fieldCode, "finish_reason": fieldCode, "finishreason": fieldCode,
	"stop_reason": fieldCode, "native_finish_reason": fieldCode, "error_type": fieldCode,
	"status_code": fieldStatus, "statuscode": fieldStatus, "http_status": fieldStatus, "httpstatus": fieldStatus,
	"error": fieldError, "errors": fieldError,
	"message": fieldWords, "msg": fieldWords, "detail": fieldWords, "raw": fieldWords, "title": fieldWords,
	"error_description": fieldWords, "error_message": fieldWords, "errormessage": fieldWords, "error_msg": fieldWords,
	"quotaid": fieldQuota, "quotametric": fieldQuota, "quota_limit": fieldQuota,
	"retrydelay": fieldDelay, "retry_delay": fieldDelay,
	"request_id": fieldRequestID, "requestid": fieldRequestID,
	"blockreason": fieldBlocked, "refusal": fieldRefusal,
	"content": fieldForeign, "text": fieldForeign, "input": fieldForeign, "output": fieldForeign,
	"arguments": fieldForeign, "args": fieldForeign, "partial_json": fieldForeign, "parts": fieldForeign,
	"tool_calls": fieldForeign, "functioncall": fieldForeign, "thinking": fieldForeign, "reasoning": fieldForeign,
	"flagged_input": fieldForeign, "prompt": fieldForeign, "messages": fieldForeign, "instructions": fieldForeign,
}

// readBody collects the signals of a body of any form.
func readBody(body string) signals {
	var s signals
	body = strings.ToValidUTF8(Clip(body, maxTextScan), "\uFFFD")
	if strings.Contains(body, "&quot;") || strings.Contains(body, "&#34;") {
		body = html.UnescapeString(body)
	}
	s.read(body, 0)
	if len(s.words) == 0 && !s.members {
		s.say(plainText(body))
	}
	return s
}

// read takes what is said outside of JSON as words, and scans the JSON.
func (s *signals) read(text string, depth int) {
	start := strings.IndexAny(text, "{[\"")
	if start < 0 || !strings.Contains(text[start:], "\"") {
		s.say(plainText(text))
		return
	}
	if depth == 0 || start > 0 {
		s.say(plainText(eventPrefix(text[:start])))
	}
	s.scan(text[start:], depth)
}

// eventPrefix leaves out the names of stream fields: "event: error\ndata: ".
func eventPrefix(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch strings.ToLower(name) {
		case "event", "data", "id", "retry":
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// scan goes once through s, tolerant of everything that is not JSON.
func (s *signals) scan(text string, depth int) {
	for i := 0; i < len(text); {
		if text[i] != '"' {
			i++
			continue
		}
		whole := i == 0
		raw, next := quoted(text, i)
		i = next
		colon := skipSpace(text, i)
		if colon >= len(text) || text[colon] != ':' {
			if depth < maxNesting && strings.ContainsAny(raw, "{[") {
				s.read(unquote(raw), depth+1)
			} else if whole && strings.TrimSpace(text[i:]) == "" {
				s.say(unquote(raw)) // the body is nothing but a string
			}
			continue
		}
		i = s.member(fields[strings.ToLower(raw)], text, skipSpace(text, colon+1), depth)
	}
}

// member takes the value that begins at i and says where to go on.
func (s *signals) member(f field, text string, i, depth int) int {
	if i >= len(text) {
		return i
	}
	s.members = true
	switch text[i] {
	case '"':
		raw, next := quoted(text, i)
		s.value(f, unquote(raw), depth)
		return next
	case '{', '[':
		if f == fieldForeign {
			return skipNested(text, i)
		}
		if f == fieldError {
			s.isError = true
		}
		return i + 1
	}
	end := i
	for end < len(text) && !strings.ContainsRune(",}] \r\n\t", rune(text[end])) {
		end++
	}
	if literal := text[i:end]; literal != "null" {
		s.literal(f, literal)
	}
	return end
}

// value takes the string value of a member.
func (s *signals) value(f field, value string, depth int) {
	switch f {
	case fieldCode:
		if status, ok := httpStatus(value); ok {
			s.setStatus(status)
			return
		}
		s.code(value)
		if strings.EqualFold(value, "error") {
			s.isError = true
		}
	case fieldStatus:
		s.literal(f, value)
	case fieldQuota:
		if len(s.quotas) < maxSignals {
			s.quotas = append(s.quotas, strings.ToLower(value))
		}
	case fieldDelay:
		s.delay = value
	case fieldRequestID:
		s.requestID = Clip(value, 128)
	case fieldBlocked:
		s.isError = true
		s.code("blocked_" + value)
	case fieldRefusal:
		s.code("refusal")
	case fieldError, fieldWords:
		s.isError = s.isError || f == fieldError
		if depth < maxNesting && strings.Contains(value, "{") && strings.Contains(value, "\"") {
			s.read(value, depth+1)
			return
		}
		s.say(value)
	}
}

// literal takes a number, true or false.
func (s *signals) literal(f field, literal string) {
	if f != fieldCode && f != fieldStatus {
		return
	}
	if status, ok := httpStatus(literal); ok {
		s.setStatus(status)
	} else if f == fieldCode {
		s.code(literal)
	}
}

func (s *signals) code(code string) {
	if len(s.codes) < maxSignals && code != "" {
		s.codes = append(s.codes, Clip(code, 128))
	}
}

func (s *signals) say(words string) {
	if words = strings.TrimSpace(words); words != "" && len(s.words) < maxSignals {
		s.words = append(s.words, Clip(words, MaxDetail))
	}
}

func (s *signals) setStatus(status int) {
	if s.status == 0 {
		s.status = status
	}
}

// text is all that was said, in the order in which it was.
func (s *signals) text() string { return Clip(strings.Join(s.words, "\n"), maxWords) }

// httpStatus reads a number that can be a status of a failure.
func httpStatus(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 300 && n <= 599
}

func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// quoted gives the inside of the string that begins at i, still escaped, and the
// place after it. A string that never ends ends with the text.
func quoted(text string, i int) (string, int) {
	for end := i + 1; end < len(text); end++ {
		switch text[end] {
		case '\\':
			end++
		case '"':
			return text[i+1 : end], end + 1
		}
	}
	return text[i+1:], len(text)
}

// skipNested gives the place after the object or array that begins at i.
func skipNested(text string, i int) int {
	level := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			_, i = quoted(text, i)
			continue
		case '{', '[':
			level++
		case '}', ']':
			level--
			if level == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// unquote resolves JSON escapes; one that is none stands for the character itself.
func unquote(raw string) string {
	if !strings.Contains(raw, `\`) {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 >= len(raw) {
			b.WriteByte(raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r', 't', 'b', 'f':
			b.WriteByte(' ')
		case 'u':
			r, used := unicodeEscape(raw[i:])
			b.WriteRune(r)
			i += used - 1
		default:
			b.WriteByte(raw[i])
		}
	}
	return b.String()
}

// unicodeEscape reads uXXXX, a surrogate pair included, and says how long it was.
func unicodeEscape(s string) (rune, int) {
	r, ok := hex4(s)
	if !ok {
		return utf8.RuneError, 1
	}
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if len(s) > 6 && s[5] == '\\' {
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 11
			}
		}
	}
	return utf8.RuneError, 5
}

func hex4(s string) (rune, bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:5], 16, 32)
	return rune(n), err == nil
}

// plainText strips tags, scripts and styles from text that is HTML.
func plainText(text string) string {
	if !strings.Contains(text, "<") {
		return strings.TrimSpace(text)
	}
	var b strings.Builder
	for text != "" {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:open])
		text = text[open:]
		if len(text) < 2 || !tagStart(text[1]) {
			b.WriteByte('<')
			text = text[1:]
			continue
		}
		end := strings.IndexByte(text, '>')
		if end < 0 {
			break
		}
		tag := text[1:end]
		text = text[end+1:]
		if name := strings.ToLower(tag); strings.HasPrefix(name, "script") || strings.HasPrefix(name, "style") {
			text = afterClosing(text)
		}
		b.WriteByte(' ')
	}
	return strings.Join(strings.Fields(html.UnescapeString(b.String())), " ")
}

func tagStart(c byte) bool {
	return c == '/' || c == '!' || c == '?' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// afterClosing skips what a script or style element holds.
func afterClosing(text string) string {
	if end := strings.Index(text, "</"); end >= 0 {
		return text[end:]
	}
	return ""
}
