package sqlite

import "github.com/mulligan-run/mulligan/timeline"

func owned(h *head) error {
	return &timeline.OwnedError{Run: h.Run, Owner: h.Owner, Until: h.expires}
}

func stale(h *head, l timeline.Lease) error {
	return &timeline.StaleError{Run: l.Run, Epoch: l.Epoch, Newest: h.epoch, Owner: h.Owner}
}

func conflict(h *head, after uint64) error {
	return &timeline.ConflictError{Run: h.Run, Epoch: h.epoch, After: after, Last: h.Seq}
}

// newest refuses a lease that is not the newest of its run.
func newest(h *head, l timeline.Lease) error {
	if h.epoch != l.Epoch || h.Owner != l.Owner {
		return refuse(stale(h, l))
	}
	return nil
}
