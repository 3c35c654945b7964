package failure

// step is one way to recognise a failure.
type step struct {
	name string
	by   func(*reading) (verdict, bool)
}

// precedence is what counts more than what: the first step that knows the failure decides.
// The package's doc gives the reason for each place, and TestPrecedence a failure about which
// each step and the next one disagree.
var precedence = [...]step{
	{"the adapter", (*reading).byAdapter},
	{"a page", (*reading).byPage},
	{"figures of a quota", (*reading).byQuota},
	{"exact words", (*reading).byExactWords},
	{"a code that names one cause", (*reading).byCode},
	{"a sentence", (*reading).bySentence},
	{"the words of a code", (*reading).byCodeWords},
	{"a general code", (*reading).byGeneralCode},
	{"why it was refused", (*reading).byRefusal},
	{"the status", (*reading).byStatus},
	{"a code that says no more than 400", (*reading).byInvalidCode},
	{"an empty answer", (*reading).byAnswer},
	{"a status in the message", (*reading).bySpokenStatus},
	{"loose words", (*reading).byWords},
	{"a cause in any words", (*reading).byCause},
	{"how it ended", (*reading).byEnd},
}

// verdict is that of the first step, from this one on, that knows the failure; where none
// does, step is how many there are.
func (c *reading) verdict(from int) (v verdict, step int) {
	for i := from; i < len(precedence); i++ {
		if v, ok := precedence[i].by(c); ok {
			return v, i
		}
	}
	return verdict{kind: KindUnknown, by: Clue{Source: ClueNothing, Value: "no rule knows it"}}, len(precedence)
}
