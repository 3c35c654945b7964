package failure

import (
	"html"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// Limits on what is read of a body, so that reading is bounded and takes linear time.
const (
	maxNesting  = 4       // of JSON inside strings
	maxWords    = 8 << 10 // of the words that the wording rules look at
	maxSignals  = 64      // at most this many codes, and as many messages
	maxTextScan = 64 << 10

	// maxWork is how many bytes of a body are read, all levels of nesting added up.
	maxWork = (maxNesting + 1) * maxTextScan
)

// signals is what a body says, whatever form it has: {"error":{…}}, {"type":"error",…}, an array of
// these, a JSON document inside a string, a stream event, an HTML page around any of these, a
// document that was cut short, or an object as Python, JavaScript and Rust print it.
type signals struct {
	codes     []string // values of type, code, status, reason and the like, as written
	quotas    []string // values of quotaId and the like
	status    int      // the first number in a field that names a status
	words     []string // values of message and the like
	delay     member   // RetryInfo.retryDelay
	after     member   // another field that says how long to wait
	reset     member   // a field that says when a limit is over
	requestID string
	isError   bool // an error member or envelope was seen
	answered  bool // a part of a model's answer was seen
	blank     bool // an empty field of a model's answer was seen
	piece     bool // the body is one event of a streamed answer
	members   int  // how many members there were: if any, the body is JSON or contains JSON
	work      int  // bytes read
}

// member is a field's name and value.
type member struct{ name, value string }

// field says what a JSON member means here, by its name in lower case.
type field uint8

const (
	fieldOther field = iota
	fieldCode
	fieldStatus
	fieldWords
	fieldErrorWords // words that only an error has
	fieldQuota
	fieldDelay
	fieldAfter
	fieldReset
	fieldRequestID
	fieldError
	fieldBlocked
	fieldRefusal
	fieldForeign // text written by a person or printed by a tool: never evidence
	fieldAnswer  // text that a model wrote: evidence only if it is empty
	fieldPiece
)

var fields = map[string]field{
	"type": fieldCode, "code": fieldCode, "status": fieldCode, "reason": fieldCode, "__type": fieldCode,
	"error_code": fieldCode, "errorcode": fieldCode, "finish_reason": fieldCode, "finishreason": fieldCode,
	"stop_reason": fieldCode, "native_finish_reason": fieldCode, "error_type": fieldCode,
	":exception-type": fieldCode, "exception_type": fieldCode, "exceptiontype": fieldCode, "lc_error_code": fieldCode,
	"status_code": fieldStatus, "statuscode": fieldStatus, "http_status": fieldStatus, "httpstatus": fieldStatus,
	"error": fieldError, "errors": fieldError,
	"message": fieldWords, "msg": fieldWords, "detail": fieldWords, "details": fieldWords, "raw": fieldWords, "title": fieldWords,
	"error_description": fieldErrorWords, "error_message": fieldErrorWords, "errormessage": fieldErrorWords, "error_msg": fieldErrorWords,
	"status_msg": fieldErrorWords, "status_message": fieldErrorWords, "err": fieldErrorWords, "errmsg": fieldErrorWords, "err_msg": fieldErrorWords, "body": fieldWords, "responsebody": fieldWords, "response_body": fieldWords,
	"quotaid": fieldQuota, "quotametric": fieldQuota, "quota_limit": fieldQuota,
	"retrydelay": fieldDelay, "retry_delay": fieldDelay,
	"retry_after": fieldAfter, "retryafter": fieldAfter, "retry-after": fieldAfter, "retry_after_seconds": fieldAfter,
	"retry_after_ms": fieldAfter, "retryafterms": fieldAfter, "resets_in_seconds": fieldAfter, "reset_after": fieldAfter,
	"estimated_time": fieldAfter, "quotaresetdelay": fieldAfter, "quotaresettimestamp": fieldReset,
	"resets_at": fieldReset, "reset_at": fieldReset, "x-ratelimit-reset": fieldReset,
	"request_id": fieldRequestID, "requestid": fieldRequestID,
	"blockreason": fieldBlocked, "refusal": fieldRefusal,
	"content": fieldAnswer, "text": fieldAnswer, "output": fieldAnswer, "parts": fieldAnswer, "tool_calls": fieldAnswer,
	"functioncall": fieldAnswer, "arguments": fieldAnswer, "args": fieldAnswer, "partial_json": fieldAnswer, "delta": fieldPiece,
	"input": fieldForeign, "thinking": fieldForeign, "reasoning": fieldForeign, "requestbodyvalues": fieldForeign, "request_body": fieldForeign,
	"flagged_input": fieldForeign, "prompt": fieldForeign, "messages": fieldForeign, "instructions": fieldForeign,
}

// readBody collects the signals of a body in any form.
func readBody(body string) signals {
	var s signals
	body = words.Clip(body, maxTextScan)
	if strings.Contains(body, "&quot;") || strings.Contains(body, "&#34;") {
		body = html.UnescapeString(body)
	}
	if strings.HasPrefix(strings.TrimSpace(body), "<") {
		body = words.WithoutScripts(body)
	}
	if before, _, found := strings.Cut(body, `"`); found && strings.HasSuffix(before, `{\`) {
		body = unquote(body) // as a log prints it, inside a string
	}
	s.read(body, 0)
	for _, code := range s.codes { // a sentence where a code should be is the only one
		if len(s.words) == 0 && strings.Contains(code, " ") {
			s.say(code)
		}
	}
	return s
}

// read scans the JSON in text. The text before and after it counts as words, and so does all of
// text where there is no JSON.
func (s *signals) read(text string, depth int) {
	if s.work += len(text); s.work > maxWork {
		return
	}
	start := strings.IndexAny(text, "{[\"")
	if start < 0 {
		s.say(words.Plain(text))
		return
	}
	members, said := s.members, len(s.words)
	end, whole := s.scan(text[start:], depth)
	switch {
	case s.members > members:
		if before := strings.TrimSpace(words.Plain(eventPrefix(text[:start]))); before != "" && len(s.words) < maxSignals {
			s.words = slices.Insert(s.words, said, words.Clip(before, MaxDetail))
		}
		s.say(words.Plain(eventPrefix(text[start+end:])))
	case !whole || start > 0:
		s.say(words.Plain(text))
	}
}

// eventPrefix removes the names of stream fields: "event: error\ndata: ".
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

// scan reads text once and skips everything that is not JSON. It returns the index after the last
// document (the length of text if that document was cut short), and whether text is nothing but a
// string.
func (s *signals) scan(text string, depth int) (end int, whole bool) {
	level, closed, before := 0, -1, byte(0)
	for i := 0; i < len(text); {
		c := text[i]
		switch c {
		case ' ', '\n', '\r', '\t':
			i++
			continue
		case '{', '[':
			level++
		case '}', ']':
			if level--; level <= 0 {
				closed = i + 1
			}
		}
		switch name, next, ok := key(text, i, before); {
		case ok:
			if i = s.member(name, c == '"' || c == '\'', text, next, depth); closed >= 0 {
				closed = i
			}
		case c == '"':
			whole = i == 0 && strings.TrimSpace(text[next:]) == ""
			s.loose(name, whole, depth)
			i = next
		default:
			i++
		}
		before = c
	}
	if level > 0 || closed < 0 {
		closed = len(text)
	}
	return closed, whole
}

// loose reads a string that is not the value of a member: one in an array, or the whole text.
func (s *signals) loose(raw string, whole bool, depth int) {
	switch {
	case depth < maxNesting && strings.ContainsAny(raw, "{["):
		s.read(unquote(raw), depth+1)
	case whole:
		s.say(unquote(raw))
	}
}

// member reads the value that begins at i and returns the index after it. An unquoted name counts
// only if it is a known one and a value follows: otherwise it may as well be prose.
func (s *signals) member(name string, quotedName bool, text string, i, depth int) int {
	if some := i + len("Some("); strings.HasPrefix(text[i:], "Some(") {
		i = skipSpace(text, some)
	}
	if i >= len(text) {
		return i
	}
	if b := text[i]; (b == 'b' || b == 'u') && i+1 < len(text) && (text[i+1] == '\'' || text[i+1] == '"') {
		i++ // Python's b'…'
	}
	f := fields[strings.ToLower(name)]
	if f == fieldPiece {
		s.piece = true
	}
	if quotedName || f != fieldOther && strings.IndexByte("\"'`{[0123456789", text[i]) >= 0 {
		s.members++
	}
	switch text[i] {
	case '"', '\'', '`':
		raw, next := quoted(text, i)
		s.value(f, member{name, unquote(raw)}, depth)
		return next
	case '{', '[':
		if f == fieldForeign || f == fieldAnswer {
			end := skipNested(text, i)
			s.answer(f, saysNothing(text[i:end]))
			return end
		}
		if f == fieldError {
			s.isError = true
		}
		return i
	}
	end := i
	for end < len(text) && strings.IndexByte(",}]) \r\n\t", text[end]) < 0 {
		end++
	}
	switch literal := text[i:end]; literal {
	case "null", "None", "undefined":
		s.answer(f, true)
	default:
		s.literal(f, member{name, literal})
	}
	return end
}

// value reads the string value of a member.
func (s *signals) value(f field, member member, depth int) {
	value := member.value
	if f == fieldCode && strings.EqualFold(member.name, "reason") && strings.Contains(value, " ") {
		f = fieldWords // a sentence
	}
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
		s.literal(f, member)
	case fieldQuota:
		if len(s.quotas) < maxSignals {
			s.quotas = append(s.quotas, value)
		}
	case fieldDelay, fieldAfter, fieldReset:
		s.comeBack(f, member)
	case fieldRequestID:
		s.requestID = words.Clip(value, MaxRequestID)
	case fieldBlocked:
		s.isError = true
		s.code("blocked_" + value)
	case fieldRefusal:
		s.code("refusal")
	case fieldAnswer:
		s.answer(f, strings.TrimSpace(value) == "")
	case fieldError, fieldWords, fieldErrorWords:
		s.isError = s.isError || f == fieldError || f == fieldErrorWords && !saysFine(value)
		if depth < maxNesting && strings.Contains(value, "{") {
			s.read(value, depth+1)
			return
		}
		s.say(value)
	}
}

// saysFine reports whether the value of an error field says that nothing is wrong: MiniMax writes
// "success".
func saysFine(value string) bool { return slices.Contains(fineWords, lower(value)) }

var fineWords = []string{"", "success", "ok", "none", "null"}

// answer records a field that a model wrote. Only whether it is empty matters.
func (s *signals) answer(f field, blank bool) {
	if f == fieldAnswer {
		s.blank, s.answered = s.blank || blank, s.answered || !blank
	}
}

// isBlankAnswer reports whether the body is a model's answer with nothing in it.
func (s *signals) isBlankAnswer() bool {
	return s.blank && !s.answered && !s.piece && !s.isError
}

// literal reads a number, true or false.
func (s *signals) literal(f field, member member) {
	switch f {
	case fieldDelay, fieldAfter, fieldReset:
		s.comeBack(f, member)
	case fieldCode, fieldStatus:
		if status, ok := httpStatus(member.value); ok {
			s.setStatus(status)
		} else if f == fieldCode {
			s.code(member.value)
		}
	}
}

// comeBack records a field that says when to try again.
func (s *signals) comeBack(f field, member member) {
	member.name = words.Clip(member.name, 64)
	switch f {
	case fieldDelay:
		s.delay = member
	case fieldAfter:
		s.after = member
	case fieldReset:
		s.reset = member
	}
}

func (s *signals) code(code string) {
	code = code[strings.LastIndexByte(code, '#')+1:] // AWS writes a namespace before it
	if len(s.codes) < maxSignals && code != "" {
		s.codes = append(s.codes, words.Clip(code, 128))
	}
}

func (s *signals) say(said string) {
	if said = strings.TrimSpace(words.WithoutStack(said)); said != "" && len(s.words) < maxSignals {
		s.words = append(s.words, words.Clip(said, MaxDetail))
	}
}

func (s *signals) setStatus(status int) {
	if s.status == 0 {
		s.status = status
	}
}

// bareText is text with each of its parts as bare gives it.
func (s *signals) bareText() string {
	if len(s.words) == 1 {
		return bare(s.words[0])
	}
	parts := make([]string, 0, len(s.words))
	for _, said := range s.words {
		parts = append(parts, bare(said))
	}
	return words.Clip(strings.Join(parts, "\n"), maxWords)
}

// text is everything that the body says in words, in order.
func (s *signals) text() string {
	if len(s.words) == 1 {
		return s.words[0]
	}
	return words.Clip(strings.Join(s.words, "\n"), maxWords)
}
