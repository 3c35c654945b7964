package timeline

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Store is where runs are kept: what a [Journal] cannot do itself. A Journal checks names and
// numbers before it calls, so a store need not. It is safe for concurrent use. Every method fails
// with ErrClosed after Close, with ctx's error if ctx ends while it waits (what it was about to
// write has then happened as a whole or not at all), and with a StoreError if the store itself has
// a problem.
//
// Whether a lease holds is decided by the store's clock alone: callers ask for a lease by how long
// it holds, never by when it ends.
type Store interface {
	// Claim makes owner the only appender of run for ttl, with the run's next epoch, and gives the
	// run as it then is. An unknown run is created, at epoch 1.
	//
	//   - *OwnedError: the lease of another living owner holds. Owners with the same name in two
	//     open stores are two owners.
	Claim(ctx context.Context, run, owner string, ttl time.Duration) (Head, error)

	// Hold makes l hold for ttl from now, even if it had expired, provided that nobody has taken
	// the run, and after that for as long as Keep says. A ttl of 0 releases it, so that the run can
	// be claimed immediately.
	//
	//   - *NotFoundError: the run is unknown.
	//   - *StaleError: l is not the run's newest lease, or was released; releasing it again is a
	//     success.
	Hold(ctx context.Context, l Lease, ttl time.Duration) error

	// Keep makes all leases of owner that Hold has renewed and not released hold for ttl from now,
	// in one write, however many there are. Leases that were claimed but not renewed with Hold are
	// not among them. As long as life stays the same, nobody has taken any of them. When it changes
	// somebody may have; the owner of a lease then calls Hold to find out.
	Keep(ctx context.Context, owner string, ttl time.Duration) (life uint64, err error)

	// Append writes everything in a in one atomic and durable step, which is impossible under a
	// lease that a later claim has replaced. The first refusal that applies is returned:
	//
	//   - *NotFoundError: the run is unknown, and does not begin.
	//   - *StaleError: a.Lease is not the run's newest.
	//   - *ConflictError: a.After is not the run's last seq.
	//   - *SessionError: CheckJoin refuses.
	//
	// For a run that begins (a.Begins), these replace the first two, in this order: *ConflictError
	// if it has events, *OwnedError if a living owner has it, *StaleError if a.Lease.Epoch is not
	// above its newest.
	Append(ctx context.Context, a *Append) error

	// Heads gives those of the runs that exist, in any order.
	Heads(ctx context.Context, runs ...string) ([]Head, error)

	// Read gives at most limit of the run's events after a seq, in order; limit 0 means all.
	// *NotFoundError: the run is unknown; *DamagedRunError: the rest cannot be read.
	Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error)

	// List gives the runs with events that q asks for, in q's order; a run's age counts from its
	// first claim. *NotFoundError: q.Before is unknown.
	List(ctx context.Context, q Query) ([]Summary, error)

	// Sessions gives at most limit of the sessions that have a run with events, the one with the
	// newest run first.
	Sessions(ctx context.Context, limit int) ([]SessionSummary, error)

	// Send durably puts c at the end of the run's inbox and gives its position. If there is already
	// a command with that ID, nothing changes and Send gives its position. sent is called with the
	// position once it is durable, whatever happens to ctx. *NotFoundError: the run is unknown.
	Send(ctx context.Context, run string, c Command, sent func(n uint64)) (uint64, error)

	// Inbox gives at most limit of the run's commands after a position, in order; limit 0 means
	// all. *NotFoundError: the run is unknown.
	Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error)

	// SaveTail replaces the run's tail with t, with the run's last seq as its Seq. It may write
	// that late, since nothing depends on it. *NotFoundError and *StaleError as for Append.
	SaveTail(ctx context.Context, l Lease, t Tail) error

	// LoadTail gives the last saved tail, or a zero Tail if an Append has ended it since then.
	// *NotFoundError: the run is unknown.
	LoadTail(ctx context.Context, run string) (Tail, error)

	// SaveBlob replaces the blob of the same owner with b, unless the present one has a higher Seq.
	// A run's blob needs the run's newest lease (*NotFoundError and *StaleError as for Append), and
	// a Seq that the run has reached (*ConflictError); a session's blob needs neither.
	SaveBlob(ctx context.Context, l Lease, b Blob) error

	// LoadBlob gives the blob of an owner; its Data is nil if there is none. *NotFoundError: the
	// run is unknown.
	LoadBlob(ctx context.Context, of BlobOwner) (Blob, error)

	// Delete removes runs with everything that is kept for them: once it has returned, nothing of
	// it can be found, nor is any of it left in the store's own files. gone is called for each run
	// as soon as it cannot be found any more. *OwnedError: a living owner has one of them;
	// *NotFoundError: one is unknown. In either case none is removed, unless that happened during
	// Delete.
	Delete(ctx context.Context, gone func(run string), runs ...string) error

	// Close releases the leases that were given to this process, if the store knows them. It is
	// called only once.
	Close() error
}

// Shared is a Store that other processes write to.
type Shared interface {
	// Moved says how far those of the runs that exist have got. If no other process has written
	// since the last call, it need not look and returns false for news. One goroutine calls it, ten
	// times a second while anybody follows a run.
	Moved(ctx context.Context, runs []string) (moved []Moved, news bool, err error)
}

// Clocked is a Store with a clock by which all go that share it, whatever their machines' clocks say. A Log is
// one, too.
type Clocked interface {
	// Now is what that clock says, without asking for it.
	Now() time.Time
}

// ClockOf is the clock of a Store or a Log: its own if it is Clocked, otherwise this machine's.
func ClockOf(shared any) func() time.Time {
	if clock, ok := shared.(Clocked); ok {
		return clock.Now
	}
	return time.Now
}

// Losing is a Store that may later have less than it said was durable. For such a store a Journal
// remembers its last appends, and appends them again as long as its lease holds.
type Losing interface{ Loses() }

// Doorbell is a Shared store that also says when to look, as far as it can.
type Doorbell interface {
	// Rings gives the names of runs that other processes have just written to; an empty list means
	// any run. The channel may be nil.
	Rings() <-chan []string
}

// Moved says how far a run has got.
type Moved struct {
	Run        string
	Seq, Inbox uint64
	Attempt    uint64 // of its tail, 0 = none
	Said       int    // length of the tail's text, in bytes
	Member     string // ID of the other member that drives the run; "" = none, or not known
}

// Head is a run as a store has it, without its events. Its Seq is 0 if it has none yet.
type Head struct {
	Summary
	Epoch uint64 // of its newest lease
	Inbox uint64 // position of its last command
}

// Append is what is written to a run in one step. A store must not change what it points to.
type Append struct {
	Lease  Lease // its Expires is not set
	After  uint64
	Events []recovery.Event // numbered from After+1
	Head   Summary          // the run's summary, including Events
	// EndsTail says that one of Events is the last of an attempt, which makes the saved tail void.
	EndsTail bool
	Begins   *Beginning // nil if the run exists already
	// Durable is called once Events are durable, before the next Append of the run is possible,
	// whatever happens to ctx.
	Durable func()

	stored [][]byte
}

// Stored gives each of the events in recovery's stored form. They are encoded at the first call,
// since not every store needs this.
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

// Restored decodes an event of run that Append.Stored encoded; it must be the one after last.
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

// Beginning is what else is written when a run begins.
type Beginning struct {
	// TTL is how long the lease claimed with the events holds; without an owner it is released
	// immediately.
	TTL   time.Duration
	Inbox uint64 // commands that count as sent although the store does not have them
}

// BlobOwner is what a Blob belongs to: a run or a session; the other is "".
type BlobOwner struct{ Run, Session string }

// Blob is data, besides the events, that a store does not look into.
type Blob struct {
	Of   BlobOwner
	Seq  uint64 // of the last event that it takes into account
	Data []byte
}
