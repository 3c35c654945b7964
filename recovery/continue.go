package recovery

// An attempt may continue the text of an attempt that failed instead of saying everything again:
// its text then begins with that text, which is not withdrawn. A decision asks for this
// (Adjust.Continue). If a caller has seen part of an answer, there is no other way to go on. It is
// possible only if the shell says so of the failed attempt (Failed.Continuable). Otherwise the text
// is withdrawn or, if a caller has seen it, no attempt follows.

// goesOn reports whether the next attempt continues the text of the last one.
func (r *Run) goesOn() bool {
	a, o := r.Attempt, r.Open
	return a != nil && !a.InAir() && a.Continuable && o != nil && o.Decision != nil && (o.Decision.Adjust.Continue || r.bound())
}

// bound reports whether the caller has seen part of the last attempt's answer, so that no attempt
// may start over.
func (r *Run) bound() bool {
	a := r.Attempt
	return a != nil && a.Shown != ShownNothing && (r.Policy.Delivery == DeliverFinal || r.Policy.Delivery == DeliverContinued)
}

// takeOver starts next with the text of a, if next continues it.
func (a *Attempt) takeOver(next *Attempt, b Began) {
	if a == nil || b.Continues == 0 || a.ID != b.Continues {
		return
	}
	next.Continues, next.Text, next.Base, next.Shown = a.ID, a.Text, a.Bytes, a.Shown
}

// heard is the length in bytes of a's text; said stands for a text that is not kept.
func (a *Attempt) heard(said *Digest) int { return max(len(a.Text), said.size(), a.Base) }

// changes reports whether a makes the next attempt a different one. Continuing a partial text does
// not.
func (a Adjust) changes() bool {
	a.Continue = false
	return a != (Adjust{})
}
