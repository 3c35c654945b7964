package proxy

import (
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// unsaid is what was passed on as it came, and so is unknown to the encoder. Consecutive deltas
// of one kind share their text, which costs little more than the text itself, and are separated
// again later, because some wires count them.
type unsaid struct{ runs []deltaRun }

type deltaRun struct {
	like llm.Delta // each of them, except for its text
	text []byte
	ends []int // of each one's text
}

func (u *unsaid) add(d llm.Delta) {
	if n := len(u.runs); n == 0 || !continues(u.runs[n-1].like, d) {
		u.runs = append(u.runs, deltaRun{like: d})
	}
	run := &u.runs[len(u.runs)-1]
	from := len(run.text)
	run.text = append(run.text, d.Text...)
	for i := range len(d.Ends) - 1 { // the last one is that of all the text
		run.ends = append(run.ends, min(from+d.Ends[i], len(run.text)))
	}
	run.ends = append(run.ends, len(run.text))
}

// continues reports whether b differs from a only in its text.
func continues(a, b llm.Delta) bool {
	plain := a.Signature == "" && a.Redacted == "" && b.Signature == "" && b.Redacted == ""
	switch b.Kind {
	case llm.DeltaText, llm.DeltaThinking, llm.DeltaArgs:
		return a.Kind == b.Kind && a.Index == b.Index && plain
	}
	return false
}

// encode passes everything to e, and empties u.
func (u *unsaid) encode(e *wire.Encoder) (frames []byte) {
	for _, run := range u.runs {
		from := 0
		for _, end := range run.ends {
			d := run.like
			d.Text, from = string(run.text[from:end]), end
			frames = e.Encode(d, frames)
		}
	}
	u.runs = nil
	return frames
}
