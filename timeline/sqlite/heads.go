package sqlite

import "context"

// maxHeads is how many runs the committer remembers at most.
const maxHeads = 4096

// heads are the rows of runs that the committer has read or written and nobody else has
// changed since. They are as the current transaction has made them.
type heads struct {
	known map[string]*head
	at    int64 // the database's version when they were right
}

// refresh makes sure, at the beginning of a transaction, that no other process has
// written since the last one: data_version changes with the commits of others alone.
func (st *statements) refresh(ctx context.Context) error {
	var version int64
	if err := st.version.QueryRowContext(ctx).Scan(&version); err != nil {
		return err
	}
	if version != st.at {
		st.forget()
		st.at = version
	}
	return nil
}

// find looks a run up. Whoever changes its row changes what find gave, too.
func (st *statements) find(ctx context.Context, run string) (*head, error) {
	if h, ok := st.known[run]; ok {
		return h, nil
	}
	h, err := scanHead(st.head.QueryRowContext(ctx, run), run)
	if err != nil {
		return nil, err
	}
	if len(st.known) >= maxHeads {
		st.forget()
	}
	st.known[run] = h
	return h, nil
}

// forget is for when a row may be another than find gave.
func (st *statements) forget() { clear(st.known) }
