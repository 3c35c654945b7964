package timeline

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Member is a process that shares the work of a store with others.
type Member struct {
	ID      string // of its open store, which sets it
	Name    string // the same as in the owner of its runs
	Version string
	Role    string          // what it does, for people
	Address string          // where it serves; "" = it does not
	Labels  recovery.Labels // what its machine has, for runs that need it

	// Live is where other members hear what runs say that it drives, host:port, and Seal the
	// SHA-256 of the certificate that it has there and as a client, in hexadecimal digits; "" = it
	// tells nobody.
	Live, Seal string

	Joined time.Time     // the store sets these
	Silent time.Duration // since it was last heard of
	Gone   bool          // it left without saying so, and is no longer a member
	Drives int           // how many runs it holds a lease of
	Lag    time.Duration // how long its last sign of life took to be written, by its own measure
}

// Members is a Store that knows the processes that have it open.
type Members interface {
	// Join makes this process a member for ttl from now, or renews its membership.
	Join(ctx context.Context, m Member, ttl time.Duration) error
	// Members lists the members, and those that left without saying so in the last hour, in the
	// order in which they joined.
	Members(ctx context.Context) ([]Member, error)
	// Leave ends what Join began.
	Leave(ctx context.Context) error
}

// BulkClaimer is a Store that can give many runs at once to one owner.
type BulkClaimer interface {
	// ClaimDue makes owner, for ttl, the only appender of at most limit runs that are due by at
	// and that no living owner holds, as Query.Due says, except the named ones, in the order in
	// which they are due. waiting selects the runs that wait for a time; otherwise the others are
	// meant; able, as Query.Able does, those that this machine can drive. No run is given to two
	// processes that ask at once, and neither waits for the other.
	ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, able recovery.Labels, limit int, but ...string) ([]Head, error)
}

// maxBulk is how many runs ClaimDue claims in one step.
const maxBulk = 500

// Claimed is a run that ClaimDue gave to its caller.
type Claimed struct {
	Lease  Lease
	Status recovery.Status
}

// ClaimDue claims runs that are due by at and that no living owner holds, at most limit and at
// most 500 at once; see BulkClaimer. can is false, and the other results are empty, where the
// store gives runs only one by one.
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
