package faults

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
	"github.com/mulligan-run/mulligan/recovery"
)

// arrived is when faults arrive; the catalogue's dates lie after it.
var arrived = time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)

// observed are the rows that only the wire shows: the adapter, or the runner, says what
// it saw.
var observed = map[string]recovery.Kind{
	"A39": recovery.KindEmptyResponse,     // a proper end without a content block
	"A41": recovery.KindMalformedResponse, // arguments that are not JSON
	"A42": recovery.KindMalformedResponse, // a tool that was not offered
	"A43": recovery.KindMalformedResponse, // blocks out of order
	"G22": recovery.KindEmptyResponse,     // thoughts only
	"O31": recovery.KindMalformedResponse, // arguments that are not JSON
	"R07": recovery.KindTimeout,           // the progress clock
	"T35": recovery.KindTimeout,           // silence
	"T36": recovery.KindTimeout,           // pings only
	"T37": recovery.KindTimeout,           // a drip of bytes
	"T38": recovery.KindMalformedResponse, // the cap on a line
	"T42": recovery.KindMalformedResponse, // the same event twice
	"T29": recovery.KindMalformedResponse, // not gzip
	"G29": recovery.KindMalformedResponse, // an unknown finish reason
}

// classifyOffline classifies a row as it stands in the table and says what is wanted;
// false where the table does not say enough: no failure, or one of several variants.
func classifyOffline(row catalogue.Row, s catalogue.Script) (*recovery.Failure, catalogue.Expectation, bool) {
	if row.Kind == "-" || s.Variant != "" {
		return nil, catalogue.Expectation{}, false
	}
	want := s.Expect
	if want.Kind != row.Kind { // the runner makes more of it than the words do
		want = catalogue.Expectation{Kind: row.Kind}
	}
	if row.ID == "T59" || strings.Contains(row.Body, "…") {
		want.Wait = nil // relative to when it is played; not in the abbreviated body
	}
	return recovery.Classify(evidenceOf(row)), want, true
}

func evidenceOf(row catalogue.Row) recovery.Evidence {
	e := recovery.Evidence{
		Provider: row.Provider, Model: row.Provider + "/test-model", Kind: observed[row.ID], At: arrived, Header: map[string][]string{},
	}
	e.Status, _ = strconv.Atoi(row.Status)
	for header := range strings.SplitSeq(row.Headers, "; ") {
		if name, value, ok := strings.Cut(header, ": "); ok {
			e.Header[name] = []string{value}
		}
	}
	e.Phase = map[string]recovery.Phase{
		"before-connect": recovery.PhaseBeforeConnect, "before-headers": recovery.PhaseBeforeFirstEvent,
		"headers": recovery.PhaseBeforeFirstEvent, "before-first-token": recovery.PhaseBeforeFirstEvent,
		"mid-stream": recovery.PhaseMidStream, "end-of-stream": recovery.PhaseEndOfStream,
	}[row.When]
	switch _, said, ok := strings.Cut(row.Body, "Go: "); {
	case ok:
		e.Err = errors.New(said)
	case row.Body == "(empty)" || row.Body == "(any)" || row.Body == "-":
	default:
		e.Body = []byte(reportedBy(row.Body))
	}
	return e
}

// reportedBy is a body, or what of a stream an adapter hands over: its last event.
func reportedBy(body string) string {
	if !strings.HasPrefix(body, "SSE") {
		return body
	}
	body = strings.ReplaceAll(body, `\n`, "\n")
	if _, stop, ok := strings.Cut(body, "finish_reason "); ok {
		return `{"choices":[{"delta":{},"finish_reason":` + stop + `}]}`
	}
	if i := strings.Index(body, `"incomplete_details"`); i >= 0 {
		return `{"type":"response.incomplete","response":{"status":"incomplete",` + body[i:] + "}}"
	}
	if i := strings.LastIndex(body, "{\"error\""); i >= 0 {
		return body[i:]
	}
	if i := strings.Index(body, "{"); i >= 0 {
		return body[i:]
	}
	return ""
}
