package splice

import "github.com/mulligan-run/mulligan/llm"

// Joiner turns the deltas of a call that continues a partial answer into the rest of that answer:
// one beginning and one id, the usage of both calls, no repetition of earlier text, and no
// reasoning in the middle.
type Joiner struct {
	seam  *seam
	spent llm.Usage
}

// NewJoiner continues text, which the call was asked to continue in the given form. spent is what
// earlier calls used; it is added to the usage of this one.
func NewJoiner(text string, form Form, spent llm.Usage) *Joiner {
	return &Joiner{newSeam(text, form), spent}
}

// Add appends to out what d means as part of the one answer; a delta without such a meaning becomes
// a ping. Its only error is ErrRestarted, which ends the call.
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
