package explain

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
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/show"
)

// maxReportBody is how much of a body the classifier gets, in bytes; adapters also
// keep no more.
const maxReportBody = 64 << 10

// Report is a failure as somebody describes it; any part may be missing.
type Report struct {
	Provider, Model string
	Status          int
	Code            string // the provider's
	Header          http.Header
	body            string
	Message         string // from the library or transport that reported the failure
	When            failure.Phase
}

// Empty reports whether there is no information at all.
func (r *Report) Empty() bool {
	return r.Status == 0 && r.Code == "" && len(r.Header) == 0 && r.body == "" && r.Message == ""
}

// Evidence is r as an adapter would have seen it at that time.
func (r *Report) Evidence(at time.Time) failure.Evidence {
	e := failure.Evidence{
		Provider: r.Provider, Model: r.fullModel(), Status: r.Status, Header: r.Header, Phase: r.When, At: at,
	}
	if e.Provider == "" {
		e.Provider, _, _ = strings.Cut(e.Model, "/")
	}
	if e.Provider == "" {
		e.Provider = provider.Named(r.Message)
	}
	body, streamed := lastEvent(r.body)
	if streamed && e.Phase == "" && r.Status/100 == 2 {
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

func (r *Report) fullModel() string {
	if r.Model == "" || r.Provider == "" || strings.HasPrefix(r.Model, r.Provider+"/") {
		return r.Model
	}
	return r.Provider + "/" + r.Model
}

// said is what a library would print: the message, and the code if there is no body
// that could contain it.
func (r *Report) said() string {
	switch {
	case r.Code == "" || r.body != "" || strings.Contains(r.Message, r.Code):
		return r.Message
	case r.Message == "":
		return r.Code
	}
	return r.Message + " (" + r.Code + ")"
}

// withCode puts a separately given code where the classifier looks for one.
func (r *Report) withCode(body string) string {
	if r.Code == "" {
		return body
	}
	fields := map[string]string{"code": r.Code}
	document := strings.ContainsRune(body, '"')
	switch {
	case body == "" && r.Message != "":
		fields["message"] = r.Message
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

// lastEvent is what an adapter extracts from an event stream: the data of the event that
// reports an error, or else of the last one. Other text is returned unchanged.
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

// whens are the words for how far an attempt had come. Two of them are synonyms,
// because catalogues of faults are finer than the classifier.
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

// parseWhen reads how far a call had come: before-connect, headers, mid-stream, end-of-stream, …
func parseWhen(word string) (failure.Phase, error) {
	var known []string
	for _, w := range whens {
		if w.word == word {
			return w.phase, nil
		}
		known = append(known, w.word)
	}
	return "", fmt.Errorf("when %q is not known; there are %s", show.Clipped(word), strings.Join(known, ", "))
}

// parseStatus reads "429" and "429 Too Many Requests".
func parseStatus(text string) (int, error) {
	number, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	status, err := strconv.Atoi(number)
	if err != nil || status < 100 || status > 599 {
		return 0, fmt.Errorf("status %q is not an HTTP status, which is a number from 100 to 599", show.Clipped(text))
	}
	return status, nil
}

// addHeader adds "name: value" to h.
func addHeader(h http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t\r\n") {
		return fmt.Errorf("header %q needs the form 'name: value'", show.Clipped(line))
	}
	if !slices.Contains(credentials, strings.ToLower(name)) {
		h.Add(name, strings.TrimSpace(value))
	}
	return nil
}

// credentials are headers that are never evidence, and may hold what nobody should see.
var credentials = []string{"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}
