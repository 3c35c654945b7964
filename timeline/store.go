package timeline

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Store is where runs are kept: what a [Journal] cannot do itself. A Journal calls it with what
// it has checked, so that a store need not look at names and numbers again. It is safe for
// concurrent use. Every method fails with ErrClosed after Close, with ctx's error where ctx ends
// while it waits (what it was about to write has then happened as a whole or not at all), and
// with a StoreError for what is the store's own trouble.
//
// Whether a lease holds is judged by the store's clock and by no other: who asks for one says
// for how long, never until when.
type Store interface {
	// Claim makes owner the only appender of run for ttl, by the run's next epoch, and gives
	// the run as it is then; one that nobody has heard of is made, at epoch 1.
	//
	//   - *OwnedError: the lease of another living owner holds. Owners of one name in two
	//     stores that are open are two owners.
	Claim(ctx context.Context, run, owner string, ttl time.Duration) (Head, error)

	// Hold makes l hold for ttl from now, also when it had expired and nobody took the run
	// meanwhile, and as long after that as Keep says; ttl 0 gives it up, so that anyone may claim
	// the run at once.
	//
	//   - *NotFoundError: the run is unknown.
	//   - *StaleError: l is not the run's newest lease; or it was given up, unless that is what
	//     is asked for.
	Hold(ctx context.Context, l Lease, ttl time.Duration) error

	// Keep makes all leases of owner that Hold made to last, and that were not given up, hold for
	// ttl from now, in one write, however many they are. A lease that was claimed and not held
	// since is none of them. While life stays the same nobody has taken any of them; where it
	// changes somebody may have, and who has one holds it again to know.
	Keep(ctx context.Context, owner string, ttl time.Duration) (life uint64, err error)

	// Append does all that a says in one atomic and durable step, which no lease that another
	// claim has overtaken can do. Refusals, of which the first that applies is given:
	//
	//   - *NotFoundError: the run is unknown, and does not begin.
	//   - *StaleError: a.Lease is not the run's newest.
	//   - *ConflictError: a.After is not the run's last seq.
	//   - *SessionError: CheckJoin has something against it.
	//
	// and for a run that begins (a.Begins), in the place of the first two and in this order:
	// *ConflictError where it has events, *OwnedError where a living owner has it, *StaleError
	// where a.Lease.Epoch is not above its newest.
	Append(ctx context.Context, a *Append) error

	// Heads gives those of the runs that there are, in any order.
	Heads(ctx context.Context, runs ...string) ([]Head, error)

	// Read gives at most limit of the run's events after a seq, in order; limit 0 is all of
	// them. *NotFoundError: the run is unknown; *DamagedRunError: what follows cannot be read.
	Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error)

	// List gives the runs that have events and that q asks for, in its order, where a run is as
	// old as its first claim. *NotFoundError: q.Before is unknown.
	List(ctx context.Context, q Query) ([]Summary, error)

	// Sessions gives the sessions of which a run has events, at most limit, the one whose newest
	// run is the newest first.
	Sessions(ctx context.Context, limit int) ([]SessionSummary, error)

	// Send puts c at the end of the run's inbox, durably, and gives its position; a command with
	// the ID of an earlier one changes nothing and gives that one's. sent is called with it once
	// it is durable, whatever becomes of ctx. *NotFoundError: the run is unknown.
	Send(ctx context.Context, run string, c Command, sent func(n uint64)) (uint64, error)

	// Inbox gives at most limit of the run's commands after a position, in order; limit 0 is all
	// of them. *NotFoundError: the run is unknown.
	Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error)

	// SaveTail keeps t, with the run's last seq as its Seq, in the place of the tail before. It
	// may be written in its own good time: nobody acts on it. *NotFoundError and *StaleError as
	// for Append.
	SaveTail(ctx context.Context, l Lease, t Tail) error

	// LoadTail gives what SaveTail kept last, unless an Append has ended it since; else a zero
	// Tail. *NotFoundError: the run is unknown.
	LoadTail(ctx context.Context, run string) (Tail, error)

	// SaveBlob keeps b in the place of the one before of the same owner, unless that is of a
	// higher Seq. That of a run needs the run's newest lease (*NotFoundError and *StaleError as
	// for Append), and a Seq that the run has reached (*ConflictError); that of a session none.
	SaveBlob(ctx context.Context, l Lease, b Blob) error

	// LoadBlob gives the blob of of; its Data is nil if there is none. *NotFoundError: the run is
	// unknown.
	LoadBlob(ctx context.Context, of BlobOwner) (Blob, error)

	// Delete removes runs with all that is kept of them: once it has returned nothing of that is
	// found any more, nor left in files that are the store's own. gone is called for each as soon as nobody finds it any more.
	// *OwnedError: a living owner has one; *NotFoundError: one is unknown; in either case none is
	// removed, unless that came to be so meanwhile.
	Delete(ctx context.Context, gone func(run string), runs ...string) error

	// Close gives up the leases that were given to this process, where the store knows which
	// they are. It is called once.
	Close() error
}

// Shared is a Store that other processes write to.
type Shared interface {
	// Moved says how far those of the runs are that there are. It may spare itself the look,
	// and say news false, where nobody else has written since it looked last. It is called by
	// one goroutine, ten times a second while anybody follows.
	Moved(ctx context.Context, runs []string) (moved []Moved, news bool, err error)
}

// Losing is a Store that may come to have less than it said was durable. A Journal remembers the
// last that it appended there, and appends it again while its lease holds.
type Losing interface{ Loses() }

// Doorbell is a Shared store that also says when to look, as far as it can.
type Doorbell interface {
	// Rings gives names of runs that other processes have just written to; an empty list is any
	// of them. It may be nil.
	Rings() <-chan []string
}

// Moved is how far a run is.
type Moved struct {
	Run        string
	Seq, Inbox uint64
	Attempt    uint64 // of its tail, 0 = none
	Said       int    // bytes of that
	Member     string // ID of the one of other processes that drives the run; "" = none, or it is not known
}

// Head is a run as a store has it, apart from its events. Its Seq is 0 where it has none yet.
type Head struct {
	Summary
	Epoch uint64 // of its newest lease
	Inbox uint64 // position of its last command
}

// Append is what is written to a run in one step. A store must not change what it points to.
type Append struct {
	Lease  Lease // Expires says nothing here
	After  uint64
	Events []recovery.Event // numbered from After+1
	Head   Summary          // what the run amounts to with them
	// EndsTail: one of them is the last of an attempt, and what was kept of what that said is
	// void.
	EndsTail bool
	Begins   *Beginning // nil where the run goes on
	// Durable is called once it is, before the next Append of the run can be and whatever
	// becomes of ctx.
	Durable func()

	stored [][]byte
}

// Stored gives each of the events as recovery stores it. It is made when it is first asked for,
// which not every store does.
func (a *Append) Stored() ([][]byte, error) {
	for _, e := range a.Events[len(a.stored):] {
		form, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		a.stored = append(a.stored, form)
	}
	return a.stored, nil
}

// Restored is the event of run that Append.Stored gave and that follows the one at last;
// *DamagedRunError: it cannot be read, or is another one.
func Restored(run string, last uint64, stored []byte) (recovery.Event, error) {
	var e recovery.Event
	err := json.Unmarshal(stored, &e)
	if err == nil && e.Seq != last+1 {
		err = fmt.Errorf("event %d follows", e.Seq)
	}
	if err != nil {
		return recovery.Event{}, &DamagedRunError{Run: run, After: last, Err: err}
	}
	return e, nil
}

// Beginning is what the first events of a run bring about besides.
type Beginning struct {
	// TTL is for how long the lease holds, which is claimed with them; with no owner it is given
	// up at once.
	TTL   time.Duration
	Inbox uint64 // commands that count as sent, and are not there
}

// BlobOwner is what a Blob belongs to: a run or a session, the other is "".
type BlobOwner struct{ Run, Session string }

// Blob is what is kept beside events, and that a store does not look into.
type Blob struct {
	Of   BlobOwner
	Seq  uint64 // of the run's last event in it
	Data []byte
}
