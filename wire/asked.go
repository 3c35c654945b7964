package wire

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// Asked is a request that a caller wrote for one wire: what it says, and what of it only that wire
// can express. It leaves out what concerns only the caller and its provider: who the user is, and
// what is billed, stored or cached.
type Asked struct {
	// Request is the request itself. It names no models: neither the one that is asked nor those
	// that wrote messages.
	Request llm.Request
	Model   string // the caller's name for it; "" if the body has none
	Stream  bool   // the answer is to be streamed, if the body says so
	Usage   bool   // a stream has to include the usage
	Session string // names the conversation, if the body does

	// What Request does not contain, in words for people. Each is a noun and where it is in the
	// body: "the penalty of repetitions (frequency_penalty)". LeftOut is what another wire can
	// answer without.
	LeftOut []string
	Bound   []string // without it, another wire's answer would not be what was asked for
	// Whole says, in the same form, why an answer that was cut cannot be continued.
	Whole []string
}

// Leave notes something that another wire is not sent.
func (a *Asked) Leave(what string) { note(&a.LeftOut, what) }

// LeaveMember notes an unknown member of the body, by its name.
func (a *Asked) LeaveMember(name string) { a.Leave(fmt.Sprintf("what %q asks for", name)) }

// Bind notes something that no other wire can do.
func (a *Asked) Bind(what string) { note(&a.Bound, what) }

// NeedWhole notes why an answer must be in one piece.
func (a *Asked) NeedWhole(what string) { note(&a.Whole, what) }

// BindWhole is both Bind and NeedWhole.
func (a *Asked) BindWhole(what string) {
	a.Bind(what)
	a.NeedWhole(what)
}

// Serve notes tools that only this provider runs. If there are no other tools, only this provider
// can answer.
func (a *Asked) Serve(tools []string) {
	note := a.Leave
	if len(a.Request.Tools) == 0 {
		note = a.Bind
	}
	for _, tool := range tools {
		note(tool)
	}
}

func note(list *[]string, what string) {
	if !slices.Contains(*list, what) && len(*list) < maxNotes {
		*list = append(*list, what)
	}
}

// maxNotes is how many notes of each kind are kept for one request.
const maxNotes = 32

// RequestError says what is wrong with a request, and where.
type RequestError struct {
	Field   string // "messages[2].content"; "" = the body itself
	Problem string // "is a number, and not a text"
}

func (e *RequestError) Error() string {
	if e.Field == "" {
		return "the request " + e.Problem
	}
	return e.Field + " " + e.Problem
}

// BadRequest makes a RequestError.
func BadRequest(field, format string, args ...any) error {
	return &RequestError{field, fmt.Sprintf(format, args...)}
}

// Effort is a level of reasoning as llm.Request names it; "" for an unknown one.
func Effort(level string) string {
	switch level {
	case "minimal", "low":
		return "low"
	case "medium":
		return "medium"
	case "high", "xhigh", "max":
		return "high"
	}
	return ""
}

// EffortOf is the highest level of reasoning whose Budget is at most that many tokens, or the
// lowest level if none is; "" for no tokens.
func EffortOf(budget int) string {
	level := ""
	for _, next := range []string{"low", "medium", "high"} {
		if budget >= Budget(next) || level == "" && budget > 0 {
			level = next
		}
	}
	return level
}

// Picture is an image from base64 data; ok is false if it is invalid.
func (a *Asked) Picture(field, mediaType, data string) (part llm.Part, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 || mediaType == "" {
		a.Bind("a picture that cannot be read (" + field + ")")
		return llm.Part{}, false
	}
	return llm.Part{Image: &llm.Image{MediaType: mediaType, Data: raw}}, true
}

// PictureAt is the image in a data URL. Images at other URLs would have to be fetched, which only
// the provider does.
func (a *Asked) PictureAt(field, url string) (llm.Part, bool) {
	head, data, ok := strings.Cut(url, ",")
	mediaType, isData := strings.CutPrefix(head, "data:")
	mediaType, is64 := strings.CutSuffix(mediaType, ";base64")
	if !ok || !isData || !is64 {
		a.Bind("a picture that the provider is to fetch (" + field + ")")
		return llm.Part{}, false
	}
	return a.Picture(field, mediaType, data)
}
