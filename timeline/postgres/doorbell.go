package postgres

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	ringEvery = 20 * time.Millisecond // at most: a NOTIFY makes transactions wait for one another
	maxRing   = 7900                  // the longest payload, in bytes
	maxRings  = 64                    // that have not been read yet
	bellRest  = time.Second           // before it listens again after a failure
	bellName  = "mulligan"
)

// doorbell tells other stores of this database which runs were written to, and is told by them. It
// is only a reason to look: whatever is lost is found by a later look.
type doorbell struct {
	store *Store
	pool  *pgxpool.Pool // of one connection, which listens
	rings chan []string
	first sync.Once // the first Moved, which starts to listen

	mu    sync.Mutex
	moved map[string]bool
	wake  chan struct{}
}

// ring is the payload of a NOTIFY.
type ring struct {
	Member string   `json:"m"`
	Runs   []string `json:"r,omitempty"` // none = too many to name
}

func newDoorbell(s *Store, pool *pgxpool.Pool) *doorbell {
	return &doorbell{store: s, pool: pool, rings: make(chan []string, maxRings), moved: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// Rings implements timeline.Doorbell.
func (s *Store) Rings() <-chan []string {
	if s.bell == nil {
		return nil
	}
	return s.bell.rings
}

// wrote records that a run was written to.
func (b *doorbell) wrote(run string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moved[run] = true
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// announce notifies the others, at most once in ringEvery, as long as the store is open.
func (b *doorbell) announce(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-b.wake:
		case <-ctx.Done():
			return
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		runs := slices.Collect(maps.Keys(b.moved))
		clear(b.moved)
		b.mu.Unlock()
		bounded, cancel := context.WithTimeout(ctx, queryTime)
		// Nobody waits for its sync, and others also look without it.
		_ = b.store.facts.do(bounded, &write{sql: "SELECT pg_notify($1, $2)", args: []any{bellName, said(ring{b.store.member, runs})}})
		cancel()
		pause.Reset(ringEvery)
	}
}

// said is r as a payload.
func said(r ring) string {
	text, err := json.Marshal(r)
	if err != nil || len(text) > maxRing {
		text, _ = json.Marshal(ring{Member: r.Member})
	}
	return string(text)
}

// listen listens for the others, as long as the store is open.
func (b *doorbell) listen(ctx context.Context) {
	for ctx.Err() == nil {
		b.hear(ctx)
		select {
		case <-time.After(bellRest):
		case <-ctx.Done():
		}
	}
}

// hear listens for the others until the connection breaks.
func (b *doorbell) hear(ctx context.Context) {
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "LISTEN "+bellName); err != nil {
		return
	}
	b.heard(nil) // there may have been some before
	for {
		n, err := conn.Conn().WaitForNotification(ctx)
		if err != nil {
			return
		}
		var r ring
		if json.Unmarshal([]byte(n.Payload), &r) == nil && r.Member != b.store.member {
			b.heard(r.Runs)
		}
	}
}

func (b *doorbell) heard(runs []string) {
	select {
	case b.rings <- runs:
	default: // the reader is about to look anyway
	}
}
