package timeline

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Journal is the Log on top of a Store. Everything that is the same for all stores is written here,
// once.
type Journal struct {
	store Store
	feed  *feed
	known summaries

	keeping keeping

	elsewhere *elsewhere

	remembered *remembered // nil if the store loses nothing

	checked checked

	closing  context.CancelFunc
	watching sync.WaitGroup
	close    func() error
}

var (
	_ Log     = (*Journal)(nil)
	_ Checker = (*Journal)(nil)
	_ Clocked = (*Journal)(nil)
	_ BulkLog = (*Journal)(nil)
)

// lookEvery is how often a Journal looks for what other processes wrote, while a run is being
// followed.
const lookEvery = 100 * time.Millisecond

// NewJournal makes the Log of a store. Closing it closes the store. It starts one goroutine if the
// store is Shared, otherwise none.
func NewJournal(store Store) *Journal {
	ctx, cancel := context.WithCancel(context.Background())
	j := &Journal{store: store, known: summaries{of: map[string]known{}}, keeping: keeping{of: map[string]keeper{}}, elsewhere: newElsewhere(), closing: cancel}
	j.feed = newFeed(source{j})
	if _, ok := store.(Losing); ok {
		j.remembered = &remembered{}
	}
	j.close = sync.OnceValue(j.shut)
	if shared, ok := store.(Shared); ok {
		j.watching.Go(func() { j.watch(ctx, shared) })
	}
	return j
}

// StandsOn is the store under the journal, for its optional interfaces.
func (j *Journal) StandsOn() Store { return j.store }

// Now is Clocked's: the store's time, or this machine's where the store has none.
func (j *Journal) Now() time.Time { return ClockOf(j.store)() }

// Close is Log.Close.
func (j *Journal) Close() error { return j.close() }

func (j *Journal) shut() error {
	j.feed.Close()
	j.closing()
	j.watching.Wait()
	return j.store.Close()
}

// checkEvery is how long a result of Check is reused: anybody may ask, and each answer costs the
// store a transaction.
const checkEvery = time.Second

// checked is the last result of Check.
type checked struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// Check is Checker.Check, by CheckOf its store.
func (j *Journal) Check(ctx context.Context) error {
	j.checked.mu.Lock()
	defer j.checked.mu.Unlock()
	if time.Since(j.checked.at) < checkEvery {
		return j.checked.err
	}
	err := CheckOf(ctx, j.store)
	if ctx.Err() == nil { // otherwise the error is the caller's own cancellation
		j.checked.at, j.checked.err = time.Now(), err
	}
	return err
}

// Claim is Log.Claim.
func (j *Journal) Claim(ctx context.Context, run, owner string, ttl time.Duration) (Lease, error) {
	if err := checkClaim(run, owner); err != nil {
		return Lease{}, err
	}
	asked := time.Now()
	h, err := j.store.Claim(ctx, run, owner, ttl)
	if err == nil || ctx.Err() != nil { // the claim may have happened even so
		j.feed.Left(run)
	}
	if err != nil {
		return Lease{}, err
	}
	l := Lease{Run: run, Owner: owner, Epoch: h.Epoch, Expires: asked.Add(ttl)}
	j.known.learn(l, h.Summary)
	return l, nil
}

// Renew is Log.Renew.
func (j *Journal) Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	asked, life := time.Now(), j.keeping.find(l.Owner).now.Life
	err := j.store.Hold(ctx, l, max(ttl, 1))
	if err != nil {
		if err = j.regain(ctx, l, err); err == nil {
			err = j.store.Hold(ctx, l, max(ttl, 1))
		}
	}
	if err != nil {
		return Lease{}, j.unlessOver(l, err)
	}
	l.Expires = asked.Add(ttl)
	j.known.holds(l, life)
	return l, nil
}

// Release is Log.Release.
func (j *Journal) Release(ctx context.Context, l Lease) error {
	if err := j.store.Hold(ctx, l, 0); err != nil {
		if MayPass(err) {
			j.keeping.change(l.Owner, func(k *keeper) { k.late = append(k.late, l) })
		}
		return err
	}
	j.known.forget(l.Run)
	j.feed.Left(l.Run)
	return nil
}

// Read is Log.Read.
func (j *Journal) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	return j.store.Read(ctx, run, after, limit)
}

// Follow is Log.Follow.
func (j *Journal) Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error] {
	return j.feed.Follow(ctx, run, after)
}

// Publish is Log.Publish.
func (j *Journal) Publish(run string, d Delta) { j.feed.Publish(run, d) }

// Notify is Log.Notify.
func (j *Journal) Notify(run, text string) { j.feed.Notify(run, text) }

// Send is Log.Send.
func (j *Journal) Send(ctx context.Context, run string, c Command) (uint64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	return j.store.Send(ctx, run, c, func(n uint64) { j.feed.Moved(run, 0, n) })
}

// Inbox is Log.Inbox.
func (j *Journal) Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error) {
	return j.store.Inbox(ctx, run, after, limit)
}

// Commands is Log.Commands.
func (j *Journal) Commands(ctx context.Context, run string, after uint64) iter.Seq2[Command, error] {
	return j.feed.Commands(ctx, run, after)
}

// List is Log.List.
func (j *Journal) List(ctx context.Context, q Query) ([]Summary, error) {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	return j.store.List(ctx, q)
}

// Delete is Log.Delete.
func (j *Journal) Delete(ctx context.Context, runs ...string) error {
	return j.store.Delete(ctx, func(run string) {
		j.known.forget(run)
		j.feed.Left(run)
		j.feed.Deleted(run)
	}, runs...)
}

// head is a run's row in the store.
func (j *Journal) head(ctx context.Context, run string) (Head, error) {
	heads, err := j.store.Heads(ctx, run)
	if err != nil {
		return Head{}, err
	}
	if len(heads) == 0 {
		return Head{}, &NotFoundError{Run: run}
	}
	return heads[0], nil
}

// source is what the feed reads from.
type source struct{ *Journal }

func (s source) Ended(ctx context.Context, run string) (bool, error) {
	h, err := s.head(ctx, run)
	return h.Ended, err
}

// unlessOver returns err. If it says that l is over, its run is another process's from now on, whose text is
// shown instead of what was said here. It is for errors that regain has seen: a store that lost the run says the same.
func (j *Journal) unlessOver(l Lease, err error) error {
	if stale(err) && j.known.lost(l) {
		j.feed.Left(l.Run)
	}
	return err
}

// stale reports whether err says that a lease is over, or that its run is gone.
func stale(err error) bool { return errors.Is(err, ErrStale) || errors.Is(err, ErrNotFound) }
