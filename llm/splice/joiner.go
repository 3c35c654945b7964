package splice

import "github.com/mulligan-run/mulligan/llm"

// Joiner makes the deltas of a call that goes on from a partial answer the rest of that
// answer: there is one beginning and one id, the usage of both calls, no repetition of what
// was said, and no reasoning in the middle of it.
type Joiner struct {
	seam  *seam
	spent llm.Usage
}

// NewJoiner goes on from text, which was asked for in that form; spent is what the calls
// before used, and is added to what this one says of its own.
func NewJoiner(text string, form Form, spent llm.Usage) *Joiner {
	return &Joiner{newSeam(text, form), spent}
}

// Add appends to out what d means as part of the one answer; a delta that means nothing in it
// is a sign of life there. The error is ErrRestarted, and ends the call.
func (j *Joiner) Add(d llm.Delta, out []llm.Delta) ([]llm.Delta, error) {
	var text string
	var err error
	switch d.Kind {
	case llm.DeltaStart, llm.DeltaThinking, llm.DeltaFrame:
		return append(out, llm.Delta{Kind: llm.DeltaPing}), nil
	case llm.DeltaUsage:
		d.Usage = d.Usage.Plus(j.spent)
		return append(out, d), nil
	case llm.DeltaText:
		if text, err = j.seam.add(d.Text); text == "" && err == nil {
			return append(out, llm.Delta{Kind: llm.DeltaPing}), nil
		}
		d = llm.Delta{Kind: llm.DeltaPing}
	case llm.DeltaCall, llm.DeltaStop:
		text, err = j.seam.end()
	}
	if err != nil {
		return out, err
	}
	if text != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaText, Text: text})
		if d.Kind == llm.DeltaPing {
			return out, nil
		}
	}
	return append(out, d), nil
}
