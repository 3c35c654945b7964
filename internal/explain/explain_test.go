package explain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

var explainedAt = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

func noteOf(t *testing.T, r Report) string {
	t.Helper()
	x, err := Explain(&r, explainedAt, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	x.WriteNote(NewNote(&b))
	return b.String()
}

func TestNoteOfAQuotaNamesItsReset(t *testing.T) {
	got := noteOf(t, Report{Provider: "anthropic", Status: 400, body: `{"type":"error","error":{"type":"invalid_request_error",` +
		`"message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}}`})
	for _, want := range []string{
		"\n  retryable    not before 00:00 UTC on April 1\n",
		"\n  no fallback  stop, and offer: Continue at 00:00 UTC, Retry\n", // 11 days are longer than a run
		"\n  a fallback   switch to it\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestNoteKeepsToItsWidth(t *testing.T) {
	got := noteOf(t, Report{
		Provider: "anthropic", Model: strings.Repeat("long-", 40) + "model", Status: 404,
		Header:  map[string][]string{"Retry-After": {"9"}},
		Message: "\x1b[31m漢字" + strings.Repeat("漢字", 300),
	})
	if strings.Contains(got, "\x1b") {
		t.Error("an escape sequence came through")
	}
	for line := range strings.Lines(got) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > noteWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestTreatmentOfEveryKind: for each kind, what is done about a run's first failure.
func TestTreatmentOfEveryKind(t *testing.T) {
	for _, kind := range failure.Kinds() {
		f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		alone, err := treat(*f, explainedAt)
		if err != nil {
			t.Fatal(err)
		}
		beside, err := treat(*f, explainedAt, recovery.Alternative{Model: otherModel})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []treatment{alone, beside} {
			if x.By == nil { // auto-recover has no opinion, so a person is asked
				if x.Action != recovery.ActionNone || x.offered == nil {
					t.Errorf("%s: %+v", kind, x)
				}
				continue
			}
			if x.Action == recovery.ActionNone || x.Reason == "" {
				t.Errorf("%s: %+v", kind, x)
			}
			if (x.BlockedBy != "" || x.Action == recovery.ActionFail) != (x.offered != nil) {
				t.Errorf("%s: blocked by %q, offered %v", kind, x.BlockedBy, x.offered)
			}
			if x.BlockedBy != "" && x.labels() == "" {
				t.Errorf("%s: stops, and offers nothing", kind)
			}
		}
		if alone.Action == recovery.ActionSwitchModel {
			t.Errorf("%s: switches to nothing", kind)
		}
	}
}

// TestOnce compares the kinds that the policy retries once with those that package recovery retries
// once.
func TestOnce(t *testing.T) {
	for _, kind := range failure.Kinds() {
		f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseMidStream, nil)
		r := &recovery.Run{}
		for i, b := range []recovery.Body{recovery.Started{}, recovery.Began{Attempt: 1}, recovery.Failed{Attempt: 1, Failure: *f}} {
			if err := r.Apply(recovery.Event{Seq: uint64(i) + 1, Time: explainedAt, Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		if counted := r.Call.Once > 0; counted != (retryWord(f) == "once") {
			t.Errorf("%s is said to be retryable: %s", kind, retryWord(f))
		}
	}
}

func TestCodesApartFromTheBody(t *testing.T) {
	for _, tt := range []struct {
		name string
		told Report
		want failure.Kind
	}{
		{"alone", Report{Code: "insufficient_quota"}, failure.KindBilling},
		{"a library's", Report{Code: "ECONNREFUSED"}, failure.KindUnreachable},
		{"a library's beside its message", Report{Code: "ENOTFOUND", Message: "it did not work"}, failure.KindUnreachable},
		{"beside a message", Report{Code: "insufficient_quota", Message: "429 Too Many Requests"}, failure.KindBilling},
		{"beside words", Report{Code: "overloaded_error", body: "try later", Status: 200}, failure.KindOverloaded},
		{"beside a document", Report{Code: "insufficient_quota", body: `{"error":{"message":"no"}}`, Status: 429}, failure.KindBilling},
		{"nobody knows it", Report{Code: "oddity"}, failure.KindUnknown},
	} {
		if d := failure.Diagnose(tt.told.Evidence(explainedAt)); d.Failure.Kind != tt.want {
			t.Errorf("%s: %s, want %s (%v)", tt.name, d.Failure.Kind, tt.want, d.Evidence)
		}
	}
}

func TestLastEvent(t *testing.T) {
	for _, tt := range []struct {
		body, data string
		stream     bool
	}{
		{`{"error":{}}`, `{"error":{}}`, false},
		{"see the data: it is odd", "see the data: it is odd", false},
		{"data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\n", `{"b":2}`, true},
		{"event: x\r\ndata: {\"error\":{}}\r\n\r\ndata: {\"usage\":1}\r\n\r\n", `{"error":{}}`, true},
		{": ping\n\ndata: {\"cut\":", `{"cut":`, true},
		{"data:", "", true},
	} {
		if data, stream := lastEvent(tt.body); data != tt.data || stream != tt.stream {
			t.Errorf("%q: %q %v, want %q %v", tt.body, data, stream, tt.data, tt.stream)
		}
	}
}

// TestExplainSaysHowSureItIs: the confidence and the runner-up are shown, in words and in JSON.
func TestExplainSaysHowSureItIs(t *testing.T) {
	r := Report{Status: 402, Message: "Rate limit exceeded, try again in 30s"}
	if got := noteOf(t, r); !strings.Contains(got, "\n  confidence   97 %\n") || !strings.Contains(got, "\n  runner-up    billing, by status 402 (87 %)\n") {
		t.Errorf("no confidence or runner-up in\n%s", got)
	}
	x, err := Explain(&r, explainedAt, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var said struct {
		Confidence int
		RunnerUp   struct {
			Kind       string
			Confidence int
		}
	}
	if err := json.Unmarshal(b.Bytes(), &said); err != nil || said.Confidence != 97 || said.RunnerUp.Kind != "billing" || said.RunnerUp.Confidence != 87 {
		t.Errorf("%+v (%v) of\n%s", said, err, b.String())
	}
	if got := noteOf(t, Report{Message: "something odd"}); !strings.Contains(got, "\n  confidence   none: nothing about it is known\n") || strings.Contains(got, "runner-up") {
		t.Errorf("too sure:\n%s", got)
	}
}
