package failure

// step is one way to recognise a failure.
type step struct {
	name       string
	by         func(*reading) (verdict, bool)
	confidence int // of a hundred failures recognised so, how many are right at first sight (docs/faults.md)
}

// precedence is the order of the steps: the first that recognises the failure decides. The
// package's doc gives the reason for each position. TestPrecedence has, for each step, a failure
// about which it and the next one disagree.
var precedence = [...]step{
	{"the adapter", (*reading).byAdapter, 100},
	{"a page", (*reading).byPage, 98},
	{"figures of a quota", (*reading).byQuota, 98},
	{"exact words", (*reading).byExactWords, 98},
	{"a code that names one cause", (*reading).byCode, 98},
	{"a sentence", (*reading).bySentence, 97},
	{"the words of a code", (*reading).byCodeWords, 95},
	{"a general code", (*reading).byGeneralCode, 90},
	{"why it was refused", (*reading).byRefusal, 95},
	{"a code that says no more than 500", (*reading).byServerCode, 90},
	{"the status", (*reading).byStatus, 87},
	{"a code that says no more than 400", (*reading).byInvalidCode, 90},
	{"an empty answer", (*reading).byAnswer, 95},
	{"a status in the message", (*reading).bySpokenStatus, 95},
	{"loose words", (*reading).byWords, 98},
	{"a cause in any words", (*reading).byCause, 85},
	{"a wrapper's name", (*reading).byWrapper, 90},
	{"how it ended", (*reading).byEnd, 60},
}

// verdict is that of the first step, beginning with from, that recognises the failure. If none
// does, step is the number of steps.
func (c *reading) verdict(from int) (v verdict, step int) {
	for i := from; i < len(precedence); i++ {
		if v, ok := precedence[i].by(c); ok {
			return v, i
		}
	}
	return verdict{kind: KindUnknown, by: Clue{Source: ClueNothing, Value: "no rule knows it"}}, len(precedence)
}

// confidence is how sure the verdict of a step is, from 0 to 100.
func confidence(step int) int {
	if step == len(precedence) {
		return 0
	}
	return precedence[step].confidence
}

// runnerUp is the next verdict of another kind; nil if there is none.
func (c *reading) runnerUp(v verdict, step int) *Candidate {
	for from := step + 1; from < len(precedence); {
		other, at := c.verdict(from)
		if at == len(precedence) {
			break
		}
		if other.kind != v.kind {
			other.by.Value = oneLine(other.by.Value, maxClueValue)
			return &Candidate{Kind: other.kind, Confidence: confidence(at), By: other.by}
		}
		from = at + 1
	}
	return nil
}
