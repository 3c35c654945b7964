package sqlite

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Read implements timeline.Store.
func (s *store) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	h, err := s.find(ctx, run)
	if err != nil || h.Seq <= after {
		return nil, err
	}
	var events []recovery.Event
	last := after
	err = s.each(ctx, selectEvents, func(r row) error {
		var p piece
		if err := p.scan(r); err != nil {
			if errors.Is(err, errPacked) {
				err = &timeline.DamagedRunError{Run: run, After: last, Err: err}
			}
			return err
		}
		for stored := range p.after(after) {
			if len(events) == limit && limit > 0 {
				return errEnough
			}
			e, err := timeline.Restored(run, last, stored)
			if err != nil {
				return err
			}
			last = e.Seq
			events = append(events, e)
		}
		return nil
	}, h.n, after, orAll(limit))
	if errors.Is(err, errEnough) || err == nil && last >= h.Seq {
		return events, nil
	}
	if _, now := s.find(ctx, run); errors.Is(now, timeline.ErrNotFound) { // it was deleted during the read, from its beginning on
		return nil, now
	}
	if err != nil {
		return nil, err
	}
	return events, nil
}

// Heads implements timeline.Store.
func (s *store) Heads(ctx context.Context, runs ...string) (heads []timeline.Head, err error) {
	for _, run := range runs {
		h, err := s.find(ctx, run)
		if errors.Is(err, timeline.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		heads = append(heads, h.head())
	}
	return heads, nil
}

// find looks a run up.
func (s *store) find(ctx context.Context, run string) (h *head, err error) {
	err = s.each(ctx, selectHead, func(r row) error {
		h, err = newHeadScan().read(r)
		return err
	}, run)
	if err == nil && h == nil {
		err = &timeline.NotFoundError{Run: run}
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (s *store) each(ctx context.Context, query string, scan func(row) error, args ...any) error {
	if err := s.open(); err != nil {
		return err
	}
	rows, err := s.prepared.query(ctx, s.readers, query, args...)
	if err != nil {
		return s.orClosed(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return s.orClosed(err)
		}
	}
	return s.orClosed(rows.Err())
}

func (s *store) open() error {
	select {
	case <-s.closing:
		return timeline.ErrClosed
	default:
		return nil
	}
}

// orClosed gives ErrClosed for a failure after the store was closed, and explains any other.
func (s *store) orClosed(err error) error {
	if err != nil && s.open() != nil {
		return timeline.ErrClosed
	}
	return s.explain(err)
}

func orAll(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

// Inbox implements timeline.Store.
func (s *store) Inbox(ctx context.Context, run string, after uint64, limit int) ([]timeline.Command, error) {
	h, err := s.find(ctx, run)
	if err != nil || h.inbox <= after {
		return nil, err
	}
	var commands []timeline.Command
	err = s.each(ctx, "SELECT n, id, body FROM commands WHERE run = ? AND n > ? ORDER BY n"+atMost, func(r row) error {
		var c timeline.Command
		var stored []byte
		if err := r.Scan(&c.N, &c.ID, &stored); err != nil {
			return err
		}
		var e recovery.Event
		if err := json.Unmarshal(stored, &e); err != nil {
			return err
		}
		c.Body = e.Body
		commands = append(commands, c)
		return nil
	}, h.n, after, orAll(limit))
	return commands, err
}
