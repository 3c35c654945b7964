package timeline

import (
	"context"
	"iter"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Log is the durable log of all runs; [Journal] implements it. It is safe for concurrent use.
// Every method but Publish and Notify fails with ErrClosed after Close. Events passed to it and
// returned by it are shared and must not be changed.
//
// A method whose ctx ends while it waits returns ctx's error. What it was about to write has then
// either happened as a whole or not at all: the caller reads again to find out, or simply repeats
// the call (Append and Send may be repeated as they are).
type Log interface {
	// Claim makes owner the only appender of run for ttl; an unknown run is created, at epoch 1.
	// Every claim has a higher epoch than the one before. While the lease of another living owner
	// holds, it fails with an *OwnedError (ErrOwned). An owner may claim its own run again.
	Claim(ctx context.Context, run, owner string, ttl time.Duration) (Lease, error)

	// Begin claims a run, as Claim does, and appends its first events, as Append does, in one
	// atomic and durable step. first makes the events from the Run, Owner and Epoch of the lease.
	// It must always make the same events from the same lease, and depend on nothing that changes.
	// ErrConflict: the run has events. If these are exactly the run's events, under the owner's
	// newest lease, that is a success instead.
	Begin(ctx context.Context, run, owner string, ttl time.Duration, first func(Lease) []recovery.Event) (Lease, error)

	// Renew makes l hold for ttl from now, even if it had expired, provided that nobody has taken
	// the run, and after that for as long as Keep says. ErrStale: the run was claimed again, or
	// released.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)

	// Keep makes all leases of owner that were renewed and not released hold for ttl from now, in
	// one write, however many there are. Before its first call they hold as Renew says.
	Keep(ctx context.Context, owner string, ttl time.Duration) (Kept, error)

	// Release ends l, so that the run can be claimed immediately. Releasing twice is fine.
	// ErrStale: the run was claimed again.
	Release(ctx context.Context, l Lease) error

	// Append writes events, which are numbered after+1, after+2, …, in one atomic and durable step.
	// An expired lease may still append until the run is claimed.
	//
	//   - ErrStale: the lease is not the run's newest, or was released.
	//   - ErrConflict: after is not the run's last seq. If exactly these events are already there
	//     (an append that is repeated because its success was not seen), that is a success instead.
	//   - ErrNotFound: the run is unknown.
	//   - ErrSession: a Started event would begin a second unfinished run of its session, or does
	//     not continue its newest run; a session whose runs are all gone accepts any.
	//   - ErrLost: the store has lost events of the run that it had said were durable.
	//   - Any other error, such as a StoreError: nothing is known to be durable; read again or repeat.
	Append(ctx context.Context, l Lease, after uint64, events ...recovery.Event) error

	// Read gives at most limit events after the given seq, in order; limit 0 means all.
	// ErrNotFound: the run is unknown.
	Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error)

	// Follow yields the durable events after the cursor in order, without gap or repetition, and
	// live deltas as they come. If an attempt is in the air, what it has thought and said so far
	// comes first. No delta of an attempt follows its last event. Follow ends without an error when
	// ctx ends, when the consumer stops, or after the run's Ended event (immediately if the cursor
	// is at or beyond it). Otherwise its last item is an error: ErrNotFound, ErrClosed or the
	// store's own. A follower that is more than MaxBehind items or maxBehindBytes behind loses
	// deltas, but never events, and never delays an appender; the next item that it gets has Behind
	// set, and what was thought and said so far comes again.
	Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error]

	// Publish shows a delta to the followers of run in this process. It is not durable and never
	// blocks. The text is kept in memory until its attempt ends, for later followers.
	Publish(run string, d Delta)

	// SaveTail durably replaces the saved text of the attempt in the air, for followers in other
	// processes, and for the next owner if this process ends. The event that ends the attempt makes
	// it void; a call whose ctx ended before that event was appended has no effect after it.
	// ErrStale and ErrNotFound as for Append.
	SaveTail(ctx context.Context, l Lease, t Tail) error

	// LoadTail gives the text of the attempt in the air: all of it if this process drives the run,
	// otherwise what was saved; a zero Tail if there is none. ErrNotFound: the run is unknown.
	LoadTail(ctx context.Context, run string) (Tail, error)

	// Notify shows a notice to the followers of run in this process, as Publish does.
	Notify(run, text string)

	// Send puts c into the run's durable inbox and gives its position: 1, 2, 3, … If the run
	// already has a command with that ID, nothing changes and Send gives the position of that
	// command. ErrNotFound: the run is unknown.
	Send(ctx context.Context, run string, c Command) (uint64, error)

	// Inbox gives at most limit of the run's commands after position after, in order; limit 0
	// means all. ErrNotFound: the run is unknown.
	Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error)

	// Commands yields the run's commands after position after, and then new ones, each at most
	// 250 ms after any process sent it. It ends as Follow does, except that the end of the run
	// does not end it.
	Commands(ctx context.Context, run string, after uint64) iter.Seq2[Command, error]

	// List gives the runs that q asks for, in q's order. A run is listed once it has an event.
	// ErrNotFound: q.Before is unknown.
	List(ctx context.Context, q Query) ([]Summary, error)

	// SaveSnapshot saves data as the state of the run after event seq. It replaces an older
	// snapshot, and does nothing if there is a newer one. ErrStale and ErrNotFound as for Append;
	// ErrConflict: the run has no such event yet.
	SaveSnapshot(ctx context.Context, l Lease, seq uint64, data []byte) error

	// LoadSnapshot gives the snapshot that was saved last; seq 0 means that there is none.
	// ErrNotFound: the run is unknown.
	LoadSnapshot(ctx context.Context, run string) (seq uint64, data []byte, err error)

	// Session gives the defaults of a session; an unknown session has none.
	Session(ctx context.Context, id string) (Session, error)

	// SetSession makes s the defaults of the session s.ID. It fails if CheckSessionID does.
	SetSession(ctx context.Context, s Session) error

	// Sessions lists at most limit (0 = DefaultLimit) of the sessions that have runs, the one
	// with the newest run first.
	Sessions(ctx context.Context, limit int) ([]SessionSummary, error)

	// Import adds a whole run, as Read gave it, from this store or another one, in one atomic and
	// durable step. The run is released, its next claim has a higher epoch than its last one, and
	// its inbox continues after the last command that was answered. If the run exists already and
	// begins with exactly these events, that is a success. ErrConflict: a different run with that
	// id exists; ErrSession as for Append; any other error: see NewImport.
	Import(ctx context.Context, events ...recovery.Event) error

	// Delete removes runs with their events, commands, snapshots and tails. Once it has returned,
	// nothing of them is left in the store's files, and their followers get ErrNotFound. ErrOwned:
	// a living owner has one of them; ErrNotFound: one is unknown. In either case none is removed,
	// unless that happened during Delete. Many runs are removed in several steps, so that others
	// can write in between: if it fails halfway, the first runs are gone, each as a whole.
	Delete(ctx context.Context, runs ...string) error

	// Close ends every follower with ErrClosed, and releases this Log's leases if the store knows
	// them.
	Close() error
}

// Checker is a Log that can tell whether it would accept a new run now.
type Checker interface {
	// Check fails as Begin would.
	Check(ctx context.Context) error
}

// CheckOf is the Check of a Log or a Store. One that cannot tell is taken to accept every run.
func CheckOf(ctx context.Context, of any) error {
	if checker, ok := of.(Checker); ok {
		return checker.Check(ctx)
	}
	return nil
}

// Lease is the right to append to a run.
type Lease struct {
	Run, Owner string
	Epoch      uint64
	// Expires is by this process's clock, counted from before the store was called. So it is never
	// later than the expiry by the store's clock, which alone decides.
	Expires time.Time
}
