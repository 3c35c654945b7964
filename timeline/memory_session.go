package timeline

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// mayJoin reports whether events may begin r in its session.
func (m *Memory) mayJoin(r *memoryRun, after uint64, events []recovery.Event) error {
	started, ok := JoinsSession(after, events)
	if !ok {
		return nil
	}
	newer := r.lease.Epoch > 0 // than r, which is among them once it was claimed
	for _, last := range slices.Backward(m.order) {
		switch {
		case last == r:
			newer = false
		case last.summary.Session == started.Session && last.summary.Seq > 0:
			return CheckJoin(started, last.summary, newer)
		}
	}
	return nil
}

// Session is Log.Session.
func (m *Memory) Session(ctx context.Context, id string) (Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return Session{}, err
	}
	s := m.sessions[id]
	s.ID, s.Timeouts = id, maps.Clone(s.Timeouts)
	return s, nil
}

// SetSession is Log.SetSession.
func (m *Memory) SetSession(ctx context.Context, s Session) error {
	if err := CheckSessionID(s.ID); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return err
	}
	s.Timeouts = maps.Clone(s.Timeouts)
	m.sessions[s.ID] = s
	return nil
}

// Sessions is Log.Sessions.
func (m *Memory) Sessions(ctx context.Context, limit int) ([]SessionSummary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	var list []SessionSummary
	at := map[string]int{}
	for _, r := range slices.Backward(m.order) {
		s := r.summary
		if s.Session == "" || s.Seq == 0 {
			continue
		}
		if _, known := at[s.Session]; !known {
			at[s.Session] = len(list)
			list = append(list, SessionSummary{ID: s.Session, Last: s})
		}
		list[at[s.Session]].Runs++
		list[at[s.Session]].Title = s.Title
	}
	if limit <= 0 {
		limit = DefaultLimit
	}
	return list[:min(limit, len(list))], nil
}

// SaveSnapshot is Log.SaveSnapshot.
func (m *Memory) SaveSnapshot(ctx context.Context, l Lease, seq uint64, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.owned(ctx, l)
	if err != nil {
		return err
	}
	if last := uint64(len(r.events)); seq > last {
		return &ConflictError{Run: l.Run, Epoch: l.Epoch, After: seq, Last: last}
	}
	if seq > r.snapshotSeq {
		r.snapshotSeq, r.snapshot = seq, bytes.Clone(data)
	}
	return nil
}

// LoadSnapshot is Log.LoadSnapshot.
func (m *Memory) LoadSnapshot(ctx context.Context, run string) (seq uint64, data []byte, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, run)
	if err != nil {
		return 0, nil, err
	}
	return r.snapshotSeq, bytes.Clone(r.snapshot), nil
}
