package advice

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/textproto"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
)

// Evidence is what is known of a failure. Every field may be missing.
type Evidence struct {
	Status    int               `json:"status,omitempty" minimum:"100" maximum:"599" doc:"The HTTP status." example:"529"`
	Headers   map[string]string `json:"headers,omitempty" maxProperties:"64" doc:"The answer's headers; of those that say when to come back and which request it was. Credentials among them are dropped."`
	Body      string            `json:"body,omitempty" maxLength:"65536" doc:"The answer's body, or the event of the stream that was an error."`
	Message   string            `json:"message,omitempty" maxLength:"16384" doc:"What the library says of it." example:"Overloaded"`
	Code      string            `json:"code,omitempty" maxLength:"256" doc:"The provider's or the library's code."`
	Exception string            `json:"exception,omitempty" maxLength:"256" doc:"The type of the exception."`
	When      failure.Phase     `json:"when,omitempty" enum:"before_connect,before_first_event,mid_stream,end_of_stream,prompt" doc:"How far the attempt had come."`
	Kind      failure.Kind      `json:"kind,omitempty" maxLength:"64" doc:"What you know for sure it is, such as your own timeout; by default Mulligan finds out."`
}

// credentials are headers that are never evidence, and may contain secrets.
var credentials = []string{"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}

func (e *Evidence) check(at string) error {
	errs := []error{
		checkText(at+".body", e.Body, 0, maxBody), checkText(at+".message", e.Message, 0, maxMessage), checkText(at+".code", e.Code, 0, maxName),
		checkText(at+".exception", e.Exception, 0, maxName), checkKind(at+".kind", e.Kind),
	}
	if e.Status != 0 && (e.Status < 100 || e.Status > 599) {
		errs = append(errs, wrong(at+".status", "%d is not an HTTP status", e.Status))
	}
	if len(e.Headers) > maxHeaders {
		errs = append(errs, wrong(at+".headers", "there are %d; at most %d are allowed", len(e.Headers), maxHeaders))
	}
	return cmp.Or(errs...)
}

// asSeen is e as an adapter would have seen it.
func (e *Evidence) asSeen() failure.Evidence {
	seen := failure.Evidence{Kind: e.Kind, Phase: e.When, Status: e.Status, Header: map[string][]string{}}
	for name, value := range e.Headers {
		if !slices.Contains(credentials, strings.ToLower(name)) {
			seen.Header[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
		}
	}
	body := e.Body
	if body == "" && e.Code != "" { // the classifier looks for codes where providers put them
		if text, err := json.Marshal(map[string]any{"error": map[string]string{"code": e.Code, "message": e.Message}}); err == nil {
			body = string(text)
		}
	}
	seen.Body = []byte(body)
	if said := e.said(); said != "" && body == e.Body {
		seen.Err = errors.New(said)
	}
	return seen
}

// said is what a library would print: the message after the exception's name, and the code if the
// message lacks it.
func (e *Evidence) said() string {
	said := e.Message
	if e.Code != "" && !strings.Contains(said, e.Code) {
		said = strings.TrimSpace(said + " (" + e.Code + ")")
	}
	if e.Exception != "" && !strings.Contains(said, e.Exception) {
		said = strings.TrimSuffix(e.Exception+": "+said, ": ")
	}
	return said
}

// evidence is what is known about the question's failure. If a prompt failed for a
// reason unrelated to a provider, it could not become a request.
func (d *Desk) evidence(q *Question) failure.Evidence {
	e := q.Failure
	bare := e.Status == 0 && e.Body == "" && e.Message == "" && e.Code == "" && e.Kind == ""
	e.Message = cmp.Or(e.Message, q.PromptError)
	if bare && q.TimedOut && q.PromptError == "" {
		e.Kind = failure.KindTimeout
	}
	seen := e.asSeen()
	if bare && q.PromptError != "" && e.Kind == "" && d.Classify(seen).Kind == failure.KindUnknown {
		seen.Kind, seen.Phase = failure.KindPromptFailure, failure.PhasePrompt
	}
	return seen
}
