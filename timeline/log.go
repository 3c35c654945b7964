package timeline

import (
	"context"
	"iter"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Log is the durable log of all runs, which a [Journal] is. It is safe for concurrent use. Every method
// but Publish and Notify fails with ErrClosed after Close. Events given to it and got from it
// are shared and must not be changed.
//
// A method whose ctx ends while it waits gives ctx's error, and what it was about
// to write has then either happened as a whole or not at all: the caller reads
// again to know, or simply repeats it (Append and Send may be repeated as they are).
type Log interface {
	// Claim makes owner the only appender of run for ttl; a run that nobody has
	// heard of is created, at epoch 1. Every claim has a higher epoch than the one
	// before. While the lease of another living owner holds it fails with an
	// *OwnedError (ErrOwned). An owner may claim its own run again.
	Claim(ctx context.Context, run, owner string, ttl time.Duration) (Lease, error)

	// Begin claims a run, as Claim does, and appends its first events, as Append does, in
	// one atomic and durable step. first makes the events by the Run, Owner and Epoch of
	// the lease: always the same by the same, and without a look at anything that changes.
	// ErrConflict: the run has events; except when exactly these are there already, by the
	// owner's newest lease, which is a success.
	Begin(ctx context.Context, run, owner string, ttl time.Duration, first func(Lease) []recovery.Event) (Lease, error)

	// Renew makes l hold for ttl from now, also when it had expired and nobody took
	// the run meanwhile, and as long after that as Keep says. ErrStale: the run was claimed anew, or released.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)

	// Keep makes all leases of owner that were renewed hold for ttl from now, those that are not
	// released: in one write, however many they are. Until it is called they hold as Renew says.
	Keep(ctx context.Context, owner string, ttl time.Duration) (Kept, error)

	// Release ends l, so that anyone may claim the run at once. Releasing twice is
	// fine. ErrStale: the run was claimed anew.
	Release(ctx context.Context, l Lease) error

	// Append writes events, which are numbered after+1, after+2, …, in one atomic
	// and durable step. An expired lease may still append until someone claims.
	//
	//   - ErrStale: the lease is not the run's newest, or was released.
	//   - ErrConflict: after is not the run's last seq; except when exactly these
	//     events are there already (an append repeated because its success was not
	//     seen), which is a success.
	//   - ErrNotFound: the run is unknown.
	//   - ErrSession: a Started event would begin a second unfinished run of its session,
	//     or one that does not continue the newest; a session whose runs are all gone
	//     takes any.
	//   - ErrLost: the store has lost events of the run that it had said were durable.
	//   - Any other error, a StoreError for one: nothing is known to be durable; read again or repeat.
	Append(ctx context.Context, l Lease, after uint64, events ...recovery.Event) error

	// Read gives at most limit events after the given seq, in order; limit 0 is all
	// of them. ErrNotFound: the run is unknown.
	Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error)

	// Follow yields the durable events after the cursor in order, without gap or
	// repeat, and live deltas as they come; first, where an attempt is in the air, all that
	// it has said. No delta of an attempt follows its last event. It returns without an error when ctx
	// ends, when the consumer stops, or after the run's Ended event (at once if the
	// cursor is behind it); otherwise its last item is an error: ErrNotFound,
	// ErrClosed or the store's own. A follower that falls behind by more than
	// MaxBehind items or maxBehindBytes loses deltas, never events, and never
	// delays an appender; the next item that it gets has Behind set.
	Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error]

	// Publish shows a delta to those who follow run from this process. It is not
	// durable and never blocks. Text is kept in memory until its attempt ends, for those
	// who follow the run later.
	Publish(run string, d Delta)

	// SaveTail keeps what the attempt in the air has said so far, in the place of what was
	// kept of it, durably: for who follows the run from another process, and for who drives it
	// next should this process end. It is void with the event that ends the attempt; a call
	// whose ctx ended before that was appended does nothing after it. ErrStale and ErrNotFound
	// as for Append.
	SaveTail(ctx context.Context, l Lease, t Tail) error

	// LoadTail gives what the attempt in the air has said: all of it where this process drives
	// the run, else what was saved; a zero Tail where that is nothing. ErrNotFound: the run is
	// unknown.
	LoadTail(ctx context.Context, run string) (Tail, error)

	// Notify shows a notice to those who follow run from this process, as Publish does.
	Notify(run, text string)

	// Send puts c into the run's durable inbox and gives its position: 1, 2, 3, …
	// A command with the ID of an earlier one of this run changes nothing and gives
	// the earlier one's position. ErrNotFound: the run is unknown.
	Send(ctx context.Context, run string, c Command) (uint64, error)

	// Inbox gives at most limit of the run's commands after position after, in order;
	// limit 0 is all of them. ErrNotFound: the run is unknown.
	Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error)

	// Commands yields the run's commands after position after, and then those that
	// come, at most 250 ms after they were sent by whichever process. It ends as
	// Follow does, except that the end of the run does not end it.
	Commands(ctx context.Context, run string, after uint64) iter.Seq2[Command, error]

	// List gives the runs that q asks for, in the order that Query says. A run is listed
	// once it has an event. ErrNotFound: q.Before is unknown.
	List(ctx context.Context, q Query) ([]Summary, error)

	// SaveSnapshot keeps data as what the run amounts to after event seq, in the place of
	// an older one; of a newer one it changes nothing. ErrStale and ErrNotFound as for
	// Append; ErrConflict: the run has no such event yet.
	SaveSnapshot(ctx context.Context, l Lease, seq uint64, data []byte) error

	// LoadSnapshot gives what was saved last; seq 0 is nothing. ErrNotFound: the run is
	// unknown.
	LoadSnapshot(ctx context.Context, run string) (seq uint64, data []byte, err error)

	// Session gives the defaults of a session; one that nobody has heard of has none.
	Session(ctx context.Context, id string) (Session, error)

	// SetSession makes s the defaults of the session s.ID. It fails where CheckSessionID
	// does.
	SetSession(ctx context.Context, s Session) error

	// Sessions lists the sessions that have runs, at most limit (0 = DefaultLimit), the
	// one whose newest run is the newest first.
	Sessions(ctx context.Context, limit int) ([]SessionSummary, error)

	// Import takes over a whole run as Read gave it, of this store or another one, in one
	// atomic and durable step: it is released, its next claim has a higher epoch than its
	// last one, and its inbox goes on after the last command that was answered. A run
	// that begins with exactly these events is there already, which is a success.
	// ErrConflict: another run of that id is there; ErrSession as for Append; any other
	// error: see NewImport.
	Import(ctx context.Context, events ...recovery.Event) error

	// Delete removes runs: events, commands, snapshots, tails. Once it has returned nothing of them
	// is left in the store's files, and those who follow one get ErrNotFound. ErrOwned: a
	// living owner has one; ErrNotFound: one is unknown; in either case none is removed, unless
	// that came to be so meanwhile. Many are not removed at once, so that others write in
	// between: where it fails halfway the first of them are gone, each as a whole.
	Delete(ctx context.Context, runs ...string) error

	// Close ends every follower with ErrClosed and gives up this Log's leases where
	// the store knows which they are.
	Close() error
}

// Checker is what a Log may be besides: one that knows whether it would take a new run now.
type Checker interface {
	// Check fails as Begin would.
	Check(ctx context.Context) error
}

// Lease is the right to append to a run.
type Lease struct {
	Run, Owner string
	Epoch      uint64
	// Expires is by the clock of this process, counted from before the store was asked: so it is
	// never later than by the store's, whose clock alone decides.
	Expires time.Time
}
