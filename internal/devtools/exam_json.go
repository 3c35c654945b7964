package devtools

import (
	"time"

	"github.com/mulligan-run/mulligan/sdk/conformance"
	"github.com/mulligan-run/mulligan/show"
)

// conformLine is a result in --json output.
type conformLine struct {
	Topic    string          `json:"topic"`
	Name     string          `json:"name"`
	Passed   bool            `json:"passed"`
	Skipped  string          `json:"skipped,omitempty"`
	Millis   int64           `json:"ms"`
	Expected string          `json:"expected,omitempty"`
	Got      string          `json:"got,omitempty"`
	Advice   string          `json:"advice,omitempty"`
	Answers  []conformAnswer `json:"answers,omitempty"`
}

type conformAnswer struct {
	Shape    string  `json:"shape"`
	Action   string  `json:"action,omitempty"`
	DelayMs  int64   `json:"delayMs,omitempty"`
	NewModel string  `json:"newModel,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Note     string  `json:"note,omitempty"`
	Millis   float64 `json:"ms"`
}

// Encode writes a result as a line of JSON.
func (n *ExamNote) Encode(r conformance.Result) {
	n.count(r)
	line := conformLine{
		Topic: r.Topic, Name: r.Name, Passed: r.Err == nil && r.Skipped == "", Skipped: r.Skipped, Millis: r.Took.Milliseconds(),
	}
	if r.Err != nil {
		line.Expected, line.Got, line.Advice = r.Demand, r.Err.Error(), r.Advice
	}
	for _, a := range r.Answers {
		line.Answers = append(line.Answers, conformAnswer{
			Shape: a.Shape, Action: string(a.Vote.Action), DelayMs: int64(a.Vote.Delay), NewModel: a.Vote.NewModel,
			Reason: a.Vote.Reason, Note: a.Note, Millis: millis(a.Took),
		})
	}
	n.write(line)
}

func (n *ExamNote) write(line any) {
	encoder := show.JSON(n.Out)
	if err := encoder.Encode(line); err != nil && n.err == nil {
		n.err = err
	}
}

// millis is a duration in milliseconds to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// conformSummary is the last line of --json output.
type conformSummary struct {
	Plugin  string         `json:"plugin"`
	Version string         `json:"version"`
	Passed  int            `json:"passed"`
	Failed  int            `json:"failed"`
	Skipped int            `json:"skipped"`
	Millis  int64          `json:"ms"`
	Timing  *conformTiming `json:"timing,omitempty"`
}

type conformTiming struct {
	ColdStartsMs []float64 `json:"coldStartsMs"`
	Calls        int       `json:"calls"`
	P50Ms        float64   `json:"p50Ms"`
	P99Ms        float64   `json:"p99Ms"`
}

// EncodeSummary writes the summary of all results, as a line of JSON.
func (n *ExamNote) EncodeSummary(p conformance.Portrait) error {
	s := conformSummary{
		Plugin: p.Name, Version: p.Version, Passed: n.Passed, Failed: n.Failed, Skipped: n.Skipped, Millis: time.Since(n.Began).Milliseconds(),
	}
	if t := p.Timing; t != nil {
		s.Timing = &conformTiming{Calls: t.Calls, P50Ms: millis(t.P50), P99Ms: millis(t.P99)}
		for _, start := range t.ColdStarts {
			s.Timing.ColdStartsMs = append(s.Timing.ColdStartsMs, millis(start))
		}
	}
	n.write(map[string]conformSummary{"summary": s})
	return n.err
}
