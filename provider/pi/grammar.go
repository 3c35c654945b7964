package pi

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// maxError is how much of an errorMessage is read, in bytes.
const maxError = 64 << 10

var (
	// demandedDelay is what Pi puts before an answer whose Retry-After is too long for it.
	demandedDelay = regexp.MustCompile(`^Server requested (\d{1,9})s retry delay \(max: [^)]*\)\.\s*`)
	// statusFirst is the HTTP status of an answer: `429 {…}`, `429: {…}`, `OpenAI API error (413): …`.
	statusFirst = regexp.MustCompile(`^(?:[\w -]{1,64} API error \()?([1-5]\d\d)\b\)?:?\s*`)
	noBody      = regexp.MustCompile(`^status code \(no body\)$`)
	finish      = regexp.MustCompile(`^Provider finish_reason: ([\w-]{1,64})`)
)

// phrases are what Pi and its client libraries say about errors without a status, by how they
// begin. A more precise one comes before a more general one.
var phrases = []struct {
	begins string
	kind   failure.Kind
	phase  failure.Phase
}{
	{"Connection error.", failure.KindUnreachable, failure.PhaseBeforeConnect},
	{"Request timed out.", failure.KindTimeout, failure.PhaseBeforeFirstEvent},
	{"terminated: Body Timeout Error", failure.KindTimeout, failure.PhaseMidStream},
	{"terminated", failure.KindStreamInterrupted, failure.PhaseMidStream},
	{"Anthropic stream ended", failure.KindStreamInterrupted, failure.PhaseEndOfStream},
	{"Google stream ended", failure.KindStreamInterrupted, failure.PhaseEndOfStream},
	{"Stream ended without", failure.KindStreamInterrupted, failure.PhaseEndOfStream},
	{"Could not parse", failure.KindMalformedResponse, failure.PhaseMidStream},
	{"Error reading response:", failure.KindMalformedResponse, failure.PhaseMidStream},
	{"The model refused", failure.KindContentFilter, failure.PhaseEndOfStream},
	{"Request was aborted", failure.KindInterrupted, failure.PhaseMidStream},
	{"Request aborted", failure.KindInterrupted, failure.PhaseMidStream},
	{"This operation was aborted", failure.KindInterrupted, failure.PhaseMidStream},
	{"No API key found", failure.KindAuth, failure.PhasePrompt},
	{"No models available", failure.KindAuth, failure.PhasePrompt},
	{"Model not found", failure.KindModelNotFound, failure.PhasePrompt},
}

// filtered are the reasons for the end of an answer that mean a filter.
var filtered = map[string]bool{"content_filter": true, "refusal": true, "sensitive": true, "SAFETY": true, "PROHIBITED_CONTENT": true, "BLOCKLIST": true, "SPII": true}

// read makes evidence of what Pi says about a failed request. phase is how far the message had got.
// Secrets have already been removed.
func read(said string, phase failure.Phase) (e failure.Evidence, retryAfter failure.Millis) {
	said = words.Clip(said, maxError)
	e = failure.Evidence{Err: errors.New(said), Phase: phase}
	if m := demandedDelay.FindStringSubmatch(said); m != nil {
		seconds, _ := strconv.Atoi(m[1]) // at most nine digits
		retryAfter = failure.Millis(seconds) * 1000
		said = said[len(m[0]):]
	}
	if m := statusFirst.FindStringSubmatch(said); m != nil {
		e.Status, _ = strconv.Atoi(m[1]) // three digits
		e.Phase = failure.PhaseBeforeFirstEvent
		said = said[len(m[0]):]
	}
	for _, p := range phrases {
		if e.Status == 0 && strings.HasPrefix(said, p.begins) {
			e.Kind, e.Phase = p.kind, p.phase
			return e, retryAfter
		}
	}
	if m := finish.FindStringSubmatch(said); m != nil && e.Status == 0 {
		e.Phase = failure.PhaseEndOfStream
		e.Body = errorBody(m[1], said)
		if filtered[m[1]] {
			e.Kind = failure.KindContentFilter
		}
		return e, retryAfter
	}
	if noBody.MatchString(said) {
		return e, retryAfter
	}
	if from := strings.IndexByte(said, '{'); from >= 0 && json.Valid([]byte(said[from:])) {
		said = said[from:]
	} else if e.Status == 0 {
		return e, retryAfter
	}
	e.Body = []byte(said)
	return e, retryAfter
}

// errorBody is an error body for what a provider says, if it names a code.
func errorBody(code, said string) []byte {
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": said}}) // text can always be encoded
	return body
}
