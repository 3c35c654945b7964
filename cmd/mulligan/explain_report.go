package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/provider"
)

// maxReportBody is how much of a body the classifier is given, in bytes; adapters keep
// no more of one either.
const maxReportBody = 64 << 10

// report is a failure as somebody tells of it: any part of it may be missing.
type report struct {
	provider, model string
	status          int
	code            string // the provider's
	header          http.Header
	body            string
	message         string // of the library or the transport that passed the failure on
	when            failure.Phase
}

// empty reports whether there is nothing to go by.
func (r *report) empty() bool {
	return r.status == 0 && r.code == "" && len(r.header) == 0 && r.body == "" && r.message == ""
}

// evidence is r as an adapter would have seen it at that time.
func (r *report) evidence(at time.Time) failure.Evidence {
	e := failure.Evidence{
		Provider: r.provider, Model: r.fullModel(), Status: r.status, Header: r.header, Phase: r.when, At: at,
	}
	if e.Provider == "" {
		e.Provider, _, _ = strings.Cut(e.Model, "/")
	}
	if e.Provider == "" {
		e.Provider = provider.Named(r.message)
	}
	body, streamed := lastEvent(r.body)
	if streamed && e.Phase == "" && r.status/100 == 2 {
		e.Phase = failure.PhaseMidStream
	}
	if body = r.withCode(body); body != "" {
		e.Body = []byte(body[:min(len(body), maxReportBody)])
	}
	if said := r.said(); said != "" {
		e.Err = errors.New(said)
	}
	return e
}

func (r *report) fullModel() string {
	if r.model == "" || r.provider == "" || strings.HasPrefix(r.model, r.provider+"/") {
		return r.model
	}
	return r.provider + "/" + r.model
}

// said is what a library would print: the message, and its code where there is no body
// that could hold it.
func (r *report) said() string {
	switch {
	case r.code == "" || r.body != "" || strings.Contains(r.message, r.code):
		return r.message
	case r.message == "":
		return r.code
	}
	return r.message + " (" + r.code + ")"
}

// withCode puts a code that was told of apart from the body where the classifier looks
// for one.
func (r *report) withCode(body string) string {
	if r.code == "" {
		return body
	}
	fields := map[string]string{"code": r.code}
	document := strings.ContainsRune(body, '"')
	switch {
	case body == "" && r.message != "":
		fields["message"] = r.message
	case body != "" && !document:
		fields["message"] = body
	}
	said, err := json.Marshal(fields)
	switch {
	case err != nil: // strings cannot fail
		return body
	case document:
		return string(said) + "\n" + body
	}
	return string(said)
}

// lastEvent is what an adapter hands over of an event stream: the data of the event that
// reports an error, else of the last one. Anything else is itself.
func lastEvent(body string) (data string, stream bool) {
	if !strings.HasPrefix(body, "data:") && !strings.HasPrefix(body, "event:") && !strings.Contains(body, "\ndata:") {
		return body, false
	}
	var event strings.Builder
	found := false // the event that reports an error
	for line := range strings.Lines(body + "\n\n") {
		line = strings.TrimRight(line, "\r\n")
		if value, ok := strings.CutPrefix(line, "data:"); ok {
			event.WriteString(strings.TrimPrefix(value, " ") + "\n")
		}
		if line != "" || event.Len() == 0 {
			continue
		}
		if said := strings.TrimSpace(event.String()); said != "[DONE]" && !found {
			data, found = said, strings.Contains(said, `"error"`)
		}
		event.Reset()
	}
	return data, true
}

// whens are the words for how far an attempt had come; two of them mean the same as
// others, as catalogues of faults are finer than the classifier.
var whens = []struct {
	word  string
	phase failure.Phase
}{
	{"before-connect", failure.PhaseBeforeConnect},
	{"before-headers", failure.PhaseBeforeFirstEvent},
	{"headers", failure.PhaseBeforeFirstEvent},
	{"before-first-token", failure.PhaseBeforeFirstEvent},
	{"mid-stream", failure.PhaseMidStream},
	{"end-of-stream", failure.PhaseEndOfStream},
}

func parseWhen(word string) (failure.Phase, error) {
	var known []string
	for _, w := range whens {
		if w.word == word {
			return w.phase, nil
		}
		known = append(known, w.word)
	}
	return "", fmt.Errorf("when %q is not known; there are %s", clipped(word), strings.Join(known, ", "))
}

// parseStatus reads "429" and "429 Too Many Requests".
func parseStatus(text string) (int, error) {
	number, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	status, err := strconv.Atoi(number)
	if err != nil || status < 100 || status > 599 {
		return 0, fmt.Errorf("status %q is no HTTP status, which is a number from 100 to 599", clipped(text))
	}
	return status, nil
}

// addHeader adds "name: value" to h.
func addHeader(h http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t\r\n") {
		return fmt.Errorf("header %q needs the form 'name: value'", clipped(line))
	}
	if !slices.Contains(credentials, strings.ToLower(name)) {
		h.Add(name, strings.TrimSpace(value))
	}
	return nil
}

// credentials are headers that are never evidence, and may hold what nobody should see.
var credentials = []string{"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}

// clipped is the beginning of something that a person wrote, short enough for an error.
func clipped(text string) string { return words.Clip(oneLine(text), 60) }
