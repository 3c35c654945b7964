package timeline

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Member is a process that shares the work of a store with others.
type Member struct {
	ID      string // of the store as this process has it open; the store sets it
	Name    string // the same as in the owner names of its runs
	Version string
	Role    string          // what it does, for people
	Address string          // where it serves; "" = nowhere
	Labels  recovery.Labels // what its machine has, for runs that need it

	// Live is the address (host:port) at which other members get the live text of runs that this
	// one drives, and Seal the SHA-256 of its certificate there and as a client, in hexadecimal
	// digits; "" = it sends none.
	Live, Seal string

	Joined time.Time     // the store sets these
	Silent time.Duration // since it last renewed its membership
	Gone   bool          // it stopped renewing without leaving, and is no longer a member
	Drives int           // how many runs it holds the lease of
	Lag    time.Duration // how long its last renewal took to write, by its own measure
}

// Members is a Store that knows the processes that have it open.
type Members interface {
	// Join makes this process a member for ttl from now, or renews its membership.
	Join(ctx context.Context, m Member, ttl time.Duration) error
	// Members lists the members, and those that in the last hour stopped renewing without leaving,
	// in the order in which they joined.
	Members(ctx context.Context) ([]Member, error)
	// Leave ends what Join began.
	Leave(ctx context.Context) error
}

// BulkClaimer is a Store that can give many runs at once to one owner.
type BulkClaimer interface {
	// ClaimDue makes owner, for ttl, the only appender of at most limit runs that are due by at and
	// that no living owner holds, as for Query.Due, in the order in which they are due. The runs
	// named in but are left out. With waiting it takes runs that wait for a time, otherwise the
	// other ones. It takes only runs that a machine with the labels able can drive, as for
	// Query.Able. No run is given to two processes that ask at once, and neither waits for the
	// other.
	ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, able recovery.Labels, limit int, but ...string) ([]Head, error)
}

// BulkLog is a Log that may be able to give many runs at once to one owner. A Journal and a WriteBehind are.
type BulkLog interface {
	// ClaimDue claims at most limit, and at most 500, runs that are due by at and that no living owner
	// holds; see BulkClaimer. can is false, and the other results are empty, if the store can only
	// claim one run at a time.
	ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, able recovery.Labels, limit int, but ...string) (claimed []Claimed, can bool, err error)
}

// maxBulk is how many runs ClaimDue claims in one step.
const maxBulk = 500

// Claimed is a run that ClaimDue gave to its caller.
type Claimed struct {
	Lease  Lease
	Status recovery.Status
}

// ClaimDue is BulkLog.ClaimDue.
func (j *Journal) ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, able recovery.Labels, limit int, but ...string) (claimed []Claimed, can bool, err error) {
	store, can := j.store.(BulkClaimer)
	if !can {
		return nil, false, nil
	}
	asked := time.Now()
	heads, err := store.ClaimDue(ctx, owner, ttl, at, waiting, able, min(limit, maxBulk), but...)
	if err != nil {
		return nil, true, err
	}
	for _, h := range heads {
		j.feed.Left(h.Run)
		l := Lease{Run: h.Run, Owner: owner, Epoch: h.Epoch, Expires: asked.Add(ttl)}
		j.known.learn(l, h.Summary)
		claimed = append(claimed, Claimed{Lease: l, Status: h.Status})
	}
	return claimed, true, nil
}
