package wire

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// Asked is a request as somebody wrote it on one wire: what it says, and what of it
// nothing but that wire can say. What is between the caller and that provider alone (who
// the user is, what is billed, stored or cached) is neither.
type Asked struct {
	// Request is what is said to the model. No model has a name in it, neither the one
	// that is asked nor those that spoke before.
	Request llm.Request
	Model   string // as the caller calls it; "" where the body does not say
	Stream  bool   // the answer is to be streamed, as far as the body says
	Usage   bool   // a stream is to tell the usage
	Session string // names the conversation, where the body has such a name

	// What is not in Request, in words for people, each a noun with its place in the body:
	// "the penalty of repetitions (frequency_penalty)".
	LeftOut []string // another wire can answer without it
	Bound   []string // another wire's answer would not be what was asked for
	// Whole is why an answer that was cut cannot be gone on with, in the same words.
	Whole []string
}

// Leave notes what another wire is not told.
func (a *Asked) Leave(what string) { note(&a.LeftOut, what) }

// LeaveMember notes a member of the body that nobody here knows, by its name.
func (a *Asked) LeaveMember(name string) { a.Leave(fmt.Sprintf("what %q asks for", name)) }

// Bind notes what no other wire can do.
func (a *Asked) Bind(what string) { note(&a.Bound, what) }

// NeedWhole notes why an answer has to be of one piece.
func (a *Asked) NeedWhole(what string) { note(&a.Whole, what) }

// BindWhole is both Bind and NeedWhole.
func (a *Asked) BindWhole(what string) {
	a.Bind(what)
	a.NeedWhole(what)
}

// Serve notes tools that no other wire has: where there are none beside them, nothing else
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

// maxNotes is how much is said of one request.
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

// BadRequest is a RequestError.
func BadRequest(field, format string, args ...any) error {
	return &RequestError{field, fmt.Sprintf(format, args...)}
}

// Effort is a level of reasoning as llm.Request knows them; "" for one that is none.
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

// EffortOf is the level of reasoning whose Budget is not above so many tokens, or the lowest;
// "" without any.
func EffortOf(budget int) string {
	level := ""
	for _, next := range []string{"low", "medium", "high"} {
		if budget >= Budget(next) || level == "" && budget > 0 {
			level = next
		}
	}
	return level
}

// Picture is a picture whose data is base64; ok is false where it is none.
func (a *Asked) Picture(field, mediaType, data string) (part llm.Part, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 || mediaType == "" {
		a.Bind("a picture that cannot be read (" + field + ")")
		return llm.Part{}, false
	}
	return llm.Part{Image: &llm.Image{MediaType: mediaType, Data: raw}}, true
}

// PictureAt is the picture that a URL holds; one that only says where it is needs fetching,
// which is the provider's to do.
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
