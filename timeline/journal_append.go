package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Append is Log.Append.
func (j *Journal) Append(ctx context.Context, l Lease, after uint64, events ...recovery.Event) error {
	if err := checkAppend(l, after, events); err != nil {
		return err
	}
	a := newAppend(l, after, events)
	err := j.write(ctx, a)
	if errors.Is(err, ErrConflict) {
		return j.unlessThere(ctx, a, err)
	}
	return err
}

// newAppend copies the events: what is shown to followers must not be the caller's.
func newAppend(l Lease, after uint64, events []recovery.Event) *Append {
	a := &Append{Lease: l, After: after, Events: make([]recovery.Event, len(events))}
	for i, e := range events {
		e.Time = e.Time.Round(0) // as it is after being stored and read
		a.Events[i] = e
		a.EndsTail = a.EndsTail || endsAttempt(e.Body)
	}
	return a
}

// write makes the store write a, with the summary of the run including a's events.
func (j *Journal) write(ctx context.Context, a *Append) error {
	var err error
	if a.Head, err = j.before(ctx, a.Lease, a.After); err != nil {
		return err
	}
	a.Head.Apply(a.Events...)
	a.Durable = func() {
		j.known.learn(a.Lease, a.Head)
		j.feed.Appended(a.Lease.Run, a.Events)
		if j.remembered != nil {
			j.remembered.keep(&Append{Lease: a.Lease, Events: a.Events})
		}
	}
	err = j.store.Append(ctx, a)
	if err != nil && a.Begins == nil {
		if err = j.regain(ctx, a.Lease, err); err == nil {
			err = j.store.Append(ctx, a)
		}
	}
	return j.unlessOver(a.Lease, err)
}

// before is the summary of l's run after that event, which is its last one.
func (j *Journal) before(ctx context.Context, l Lease, after uint64) (Summary, error) {
	if after == 0 {
		return Summary{Owner: l.Owner}, nil
	}
	if s, ok := j.known.find(l, after); ok {
		return s, nil
	}
	h, err := j.head(ctx, l.Run)
	switch {
	case err != nil:
		return Summary{}, err
	case h.Epoch != l.Epoch || h.Owner != l.Owner:
		return Summary{}, &StaleError{Run: l.Run, Epoch: l.Epoch, Newest: h.Epoch, Owner: h.Owner}
	case h.Seq != after:
		return Summary{}, &ConflictError{Run: l.Run, Epoch: l.Epoch, After: after, Last: h.Seq}
	}
	return h.Summary, nil
}

// unlessThere is the refusal of a, or nil if the store has exactly its events: then it was already
// written, but the caller did not see its success.
func (j *Journal) unlessThere(ctx context.Context, a *Append, refusal error) error {
	forms, err := a.Stored()
	if err != nil {
		return err
	}
	there, err := j.store.Read(ctx, a.Lease.Run, a.After, max(len(forms), 1))
	if err != nil {
		return err
	}
	if len(there) < len(forms) {
		return refusal
	}
	for i, stored := range forms {
		same, err := there[i].MarshalJSON()
		if err != nil {
			return err
		}
		if !bytes.Equal(same, stored) {
			return refusal
		}
	}
	return nil
}

// beginTries bounds how often other processes may claim a run while it begins here.
const beginTries = 8

// Begin is Log.Begin. It assumes an epoch, nearly always the first, and nearly always rightly.
func (j *Journal) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(Lease) []recovery.Event,
) (Lease, error) {
	if err := checkClaim(run, owner); err != nil {
		return Lease{}, err
	}
	l := Lease{Run: run, Owner: owner, Epoch: 1}
	for tries := 1; ; tries++ {
		l.Expires = time.Now().Add(ttl)
		a, err := newBeginning(l, first, &Beginning{TTL: ttl})
		if err == nil {
			err = j.write(ctx, a)
		}
		late, ok := errors.AsType[*StaleError](err)
		switch {
		case err == nil:
			return l, nil
		case errors.Is(err, ErrConflict):
			return j.begun(ctx, l, first, ttl, err)
		case !ok || tries == beginTries:
			return Lease{}, err
		}
		l.Epoch = late.Newest + 1
	}
}

func newBeginning(l Lease, first func(Lease) []recovery.Event, b *Beginning) (*Append, error) {
	events := first(l)
	if len(events) == 0 {
		return nil, fmt.Errorf("run %s begins without an event", l.Run)
	}
	if err := checkAppend(l, 0, events); err != nil {
		return nil, err
	}
	a := newAppend(l, 0, events)
	a.Begins = b
	return a, nil
}

// begun is the lease of a run that has begun with exactly these events, if its owner is l's; the
// lease is renewed. Otherwise it returns the refusal.
func (j *Journal) begun(ctx context.Context, l Lease, first func(Lease) []recovery.Event, ttl time.Duration, refusal error) (Lease, error) {
	h, err := j.head(ctx, l.Run)
	if err != nil {
		return Lease{}, err
	}
	if h.Owner != l.Owner {
		return Lease{}, refusal
	}
	l.Epoch = h.Epoch
	a, err := newBeginning(l, first, nil)
	if err == nil {
		err = j.unlessThere(ctx, a, refusal)
	}
	if err != nil {
		return Lease{}, err
	}
	j.known.learn(l, h.Summary)
	return j.Renew(ctx, l, ttl)
}
