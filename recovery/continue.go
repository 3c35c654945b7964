package recovery

// An attempt may go on from what another one had said when it failed, instead of saying all
// of it anew: its text begins with that one's, which is not withdrawn. A decision asks for
// that (Adjust.Continue); a caller that has seen a part of an answer allows nothing else. It
// is possible where the shell says so of the attempt that failed (Failed.Continuable); where
// it is not, what was said is withdrawn, or, where a caller has seen it, nothing follows.

// goesOn reports whether the next attempt goes on from the text of the last one.
func (r *Run) goesOn() bool {
	a, o := r.Attempt, r.Open
	return a != nil && !a.InAir() && a.Continuable && o != nil && o.Decision != nil && (o.Decision.Adjust.Continue || r.bound())
}

// bound reports whether the caller has seen a part of the last attempt's answer, so that no
// other may begin.
func (r *Run) bound() bool {
	a := r.Attempt
	return a != nil && a.Shown != ShownNothing && (r.Policy.Delivery == DeliverFinal || r.Policy.Delivery == DeliverContinued)
}

// takeOver has next begin with what a had said, if it goes on from that.
func (a *Attempt) takeOver(next *Attempt, b Began) {
	if a == nil || b.Continues == 0 || a.ID != b.Continues {
		return
	}
	next.Continues, next.Text, next.Base, next.Shown = a.ID, a.Text, a.Bytes, a.Shown
}

// heard is how many bytes a has said, of which said stands for what is not kept.
func (a *Attempt) heard(said *Digest) int { return max(len(a.Text), said.size(), a.Base) }

// changes reports whether a asks for another attempt than the last one was: going on from where
// that stopped is none.
func (a Adjust) changes() bool {
	a.Continue = false
	return a != (Adjust{})
}
