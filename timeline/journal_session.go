package timeline

import (
	"context"
	"encoding/json"
)

// Session is Log.Session.
func (j *Journal) Session(ctx context.Context, id string) (Session, error) {
	s := Session{ID: id}
	b, err := j.store.LoadBlob(ctx, BlobOwner{Session: id})
	if err == nil && b.Data != nil {
		err = json.Unmarshal(b.Data, &s)
	}
	return s, err
}

// SetSession is Log.SetSession.
func (j *Journal) SetSession(ctx context.Context, s Session) error {
	if err := CheckSessionID(s.ID); err != nil {
		return err
	}
	if err := CheckTitle(s.Title); err != nil {
		return err
	}
	defaults, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return j.store.SaveBlob(ctx, Lease{}, Blob{Of: BlobOwner{Session: s.ID}, Data: defaults})
}

// Sessions is Log.Sessions.
func (j *Journal) Sessions(ctx context.Context, limit int) ([]SessionSummary, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	list, err := j.store.Sessions(ctx, limit)
	for i := range list {
		var kept Session
		if list[i].Kept != nil && json.Unmarshal(list[i].Kept, &kept) == nil && kept.Title != "" {
			list[i].Title = kept.Title
		}
	}
	return list, err
}

// SaveSnapshot is Log.SaveSnapshot.
func (j *Journal) SaveSnapshot(ctx context.Context, l Lease, seq uint64, data []byte) error {
	return j.store.SaveBlob(ctx, l, Blob{Of: BlobOwner{Run: l.Run}, Seq: seq, Data: data})
}

// LoadSnapshot is Log.LoadSnapshot.
func (j *Journal) LoadSnapshot(ctx context.Context, run string) (seq uint64, data []byte, err error) {
	b, err := j.store.LoadBlob(ctx, BlobOwner{Run: run})
	return b.Seq, b.Data, err
}
