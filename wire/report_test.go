package wire_test

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
	"github.com/mulligan-run/mulligan/wire/gemini"
	"github.com/mulligan-run/mulligan/wire/openai"
)

// TestReportsAreUnderstood: what is told as an error of a kind is read as one of that kind.
func TestReportsAreUnderstood(t *testing.T) {
	for name, told := range map[string]struct {
		report func(kind failure.Kind, status int, message string) wire.Report
		body   func(r wire.Report) []byte
		unsaid []failure.Kind // which the wire has no word for
	}{
		"anthropic": {anthropic.Report, func(r wire.Report) []byte { return anthropic.ErrorBody(r, "req_1") }, []failure.Kind{failure.KindContextOverflow}},
		"openai":    {openai.Report, openai.ErrorBody, nil},
		"gemini":    {gemini.Report, gemini.ErrorBody, []failure.Kind{failure.KindContextOverflow, failure.KindBilling, failure.KindUnavailable}},
	} {
		for _, kind := range []failure.Kind{
			failure.KindAuth, failure.KindBilling, failure.KindRateLimit, failure.KindOverloaded, failure.KindUnavailable, failure.KindContextOverflow,
			failure.KindInvalidRequest, failure.KindModelNotFound,
		} {
			r := told.report(kind, 0, "It went wrong.")
			got := failure.Classify(failure.Evidence{Phase: failure.PhaseBeforeFirstEvent, Status: r.Status, Body: told.body(r)}).Kind
			unsaid := false
			for _, k := range told.unsaid {
				unsaid = unsaid || k == kind
			}
			if got != kind && !unsaid {
				t.Errorf("%s: %s is told as %s, and read as %s", name, kind, told.body(r), got)
			}
		}
		if r := told.report(failure.KindUnavailable, 507, "It went wrong."); r.Status != 507 {
			t.Errorf("%s: a status of the provider's became %d", name, r.Status)
		}
		if r := told.report(failure.KindStreamInterrupted, 200, "It went wrong."); r.Status != 502 {
			t.Errorf("%s: the status of an answer that was cut became %d", name, r.Status)
		}
	}
}

// TestSignsOfLife: what says nothing is heard as nothing, wherever it stands.
func TestSignsOfLife(t *testing.T) {
	for name, s := range everyWire() {
		deltas := []string{"It ", "is ", "so."}
		voice := s.voice(head())
		frames := voice.Alive(nil)
		if (len(frames) == 0) != (name == "gemini") {
			t.Errorf("%s: %q", name, frames)
		}
		frames = append(frames, speak(voice, deltas)...)
		d := s.decoder()
		var text strings.Builder
		for _, event := range events(frames) {
			heard, err := d.Decode(event, nil)
			if err != nil {
				t.Fatalf("%s: %v in %s", name, err, frames)
			}
			for _, delta := range heard {
				text.WriteString(delta.Text)
			}
		}
		if text.String() != "It is so." || d.State() == wire.Open {
			t.Errorf("%s: %q, %v: %s", name, text.String(), d.State(), frames)
		}
	}
}

// speak writes an answer with signs of life between its pieces.
func speak(voice wire.Voice, texts []string) []byte {
	encoder := wire.NewEncoder(voice)
	frames := encoder.Encode(llm.Delta{Kind: llm.DeltaStart}, nil)
	for _, text := range texts {
		frames = voice.Alive(encoder.Encode(llm.Delta{Kind: llm.DeltaText, Text: text}, frames))
	}
	return encoder.Encode(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, frames)
}
