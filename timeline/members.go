package timeline

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Member is a process that shares the work of a store with others.
type Member struct {
	ID      string // of its open store, which sets it
	Name    string // as in the owner of its runs
	Version string
	Role    string // what it does there, for people
	Address string // that it serves at; "" = nowhere

	// Live is where other members hear what runs say that it drives, host:port, and Seal the
	// SHA-256 of the certificate that it has there and as a client, in hexadecimal digits; "" = it
	// tells nobody.
	Live, Seal string

	Joined time.Time     // the store sets these
	Silent time.Duration // since it was heard of last
	Gone   bool          // it left without a word: it is none any more
	Drives int           // runs whose lease it holds
	Lag    time.Duration // that it took, as it says, to be heard of last
}

// Members is what a Store may be besides: one that knows the processes that have it open.
type Members interface {
	// Join makes this process a member for ttl from now, or keeps it one.
	Join(ctx context.Context, m Member, ttl time.Duration) error
	// Members gives those that there are, those that went without a word less than an hour ago as
	// well, the one that joined first first.
	Members(ctx context.Context) ([]Member, error)
	// Leave ends what Join began.
	Leave(ctx context.Context) error
}

// BulkClaimer is what a Store may be besides: one that gives many runs at once to one owner.
type BulkClaimer interface {
	// ClaimDue makes owner, for ttl, the only appender of at most limit runs that are due by at
	// and that no living owner holds, as Query.Due says, but for those that are named, the one
	// that is due first first; with waiting those that wait for a time, else the others. No run
	// is given to two who ask at once, and nobody waits for the other.
	ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, limit int, but ...string) ([]Head, error)
}

// maxBulk is how many runs ClaimDue claims in one step.
const maxBulk = 500

// Claimed is a run that ClaimDue gave.
type Claimed struct {
	Lease  Lease
	Status recovery.Status
}

// ClaimDue claims runs that are due by at and that no living owner holds, at most limit and not
// more than 500 at once; see BulkClaimer. can is false, and nothing else said, where the store
// gives runs one by one.
func (j *Journal) ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, limit int, but ...string) (claimed []Claimed, can bool, err error) {
	store, can := j.store.(BulkClaimer)
	if !can {
		return nil, false, nil
	}
	asked := time.Now()
	heads, err := store.ClaimDue(ctx, owner, ttl, at, waiting, min(limit, maxBulk), but...)
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
