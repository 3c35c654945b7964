package failure

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure/words"
)

// reading is the evidence in the form in which the steps read it.
type reading struct {
	e      *Evidence
	now    time.Time // the time that dates are relative to
	body   signals
	codes  []providerCode
	said   string   // the provider's words, as written
	bare   string   // the same as bare gives them, or Err's words if there are none
	text   string   // the same in lower case
	grams  trigrams // the trigrams of text
	wire   string   // Err's words, in lower case
	status int      // the HTTP status, or the one that the body names if that is 200 or missing
	odd    int      // the status, if no standard defines it
	parted clauses  // of bare, without its frames; nil until needed
	framed clauses  // the same with them
	spoken int      // the status that a message without JSON begins with or names
}

// providerCode is one code of a body, header or message.
type providerCode struct {
	lower, flat, written, where string

	pairs letterPairs // of flat
}

func newCode(written, where string) providerCode {
	code := providerCode{lower: strings.ToLower(written), flat: flat(written), written: written, where: where}
	code.pairs.addAll(code.flat)
	return code
}

func gather(e *Evidence) *reading {
	c := &reading{e: e, now: e.now(), status: e.Status}
	errText := ""
	if e.Err != nil {
		errText = words.WithoutStack(words.Clip(e.Err.Error(), maxTextScan))
	}
	where := clueBody
	if len(e.Body) > 0 {
		c.body = readBody(string(e.Body))
	} else if strings.ContainsAny(errText, "{[") {
		c.body, where = readBody(errText), clueError
	}
	c.said = c.body.text()
	c.bare = c.body.bareText()
	wire := bare(words.Clip(errText, maxWords))
	if c.bare == "" {
		c.bare = wire
	}
	c.wire, c.text = straightened(wire), straightened(c.bare)
	c.codes = make([]providerCode, 0, len(c.body.codes)+1)
	for _, code := range c.body.codes {
		c.codes = append(c.codes, newCode(code, where))
	}
	if t := e.header("X-Amzn-Errortype"); t != "" {
		name, _, _ := strings.Cut(t, ":")
		c.codes = append(c.codes, newCode(words.Clip(name, 128), "x-amzn-errortype"))
	}
	if said := cmp.Or(c.said, errText); isName(said) {
		c.codes = append(c.codes, newCode(said, where))
	} else if name := nameIn(said); name != "" {
		c.codes = append(c.codes, newCode(name, where))
	}
	if c.body.status != 0 && (c.status == 0 || c.status/100 == 2) {
		c.status = c.body.status
	}
	if isOdd(c.status) {
		c.status, c.odd = 0, c.status
	}
	c.grams.addAll(c.text)
	c.spoken = c.spokenStatus()
	return c
}

// straightened is text in the form in which phrases are looked for: in lower case, with straight
// apostrophes, and without the paths of links.
func straightened(text string) string {
	text = lower(text)
	if strings.Contains(text, "\xe2\x80") { // where they all are
		text = curlyQuotes.Replace(text)
	}
	return withoutLinks(text)
}

var curlyQuotes = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`)

// withoutLinks is text without the paths of its links: a message that ends in a link to a page
// about rate limits is not therefore about rate limits. The address of an API is left as it is.
func withoutLinks(text string) string {
	at := strings.Index(text, addressMark)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(text, addressMark) {
		end := at + addressLen(text[at:])
		address := text[at+len(addressMark) : end]
		if host, _, _ := strings.Cut(address, "/"); !slices.ContainsFunc(endpointMarks, func(mark string) bool { return strings.Contains(address, mark) }) {
			address = host
		}
		b.WriteString(text[:at+len(addressMark)])
		b.WriteString(address)
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// endpointMarks are pieces of the addresses of APIs.
var endpointMarks = []string{"/v1", "/v2", "/v3", "/v4", "completions", "generatecontent"}

// lower is text in lower case. Most texts are in it, and ASCII apart from the "…" where they were
// cut; only what follows the ASCII part is converted letter by letter.
func lower(text string) string {
	ascii, small := plainLen(text), true
	for ascii < len(text) && text[ascii] < utf8.RuneSelf {
		small = small && (text[ascii] < 'A' || text[ascii] > 'Z')
		ascii++
	}
	if ascii == len(text) && small {
		return text
	}
	head, tail := text[:ascii], strings.ToLower(text[ascii:])
	if !small {
		head = strings.ToLower(head)
	}
	if small && tail == text[ascii:] {
		return text
	}
	return head + tail
}

// plainLen is how many bytes of text, eight at a time, are ASCII and no capitals.
func plainLen(text string) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for n := 0; ; n += 8 {
		if n+8 > len(text) {
			return n
		}
		eight := eightBytes(text[n:])
		if fromA, afterZ := eight+(0x80-'A')*each, eight+(0x7F-'Z')*each; (eight|fromA&^afterZ)&high != 0 {
			return n
		}
	}
}

func (c *reading) streaming() bool {
	return c.e.Phase == PhaseMidStream || c.e.Phase == PhaseEndOfStream
}

// noCode is what is given where no code is one of those asked for.
var noCode providerCode

// codeOf gives the first code that is one of these.
func (c *reading) codeOf(codes []string) (*providerCode, bool) {
	if len(codes) > 0 {
		for i := range c.codes {
			have := &c.codes[i]
			if slices.Contains(codes, have.flat) || slices.Contains(codes, have.lower) {
				return have, true
			}
		}
	}
	return &noCode, false
}

// codeLike gives the first code that is like one of these patterns.
func (c *reading) codeLike(patterns []string) (*providerCode, bool) {
	for i := range c.codes {
		have := &c.codes[i]
		if len(have.written) > maxLikeCode {
			continue
		}
		for _, pattern := range patterns {
			if have.pairs.mayHave(pattern) && isLike(have.flat, pattern) {
				return have, true
			}
		}
	}
	return &noCode, false
}
