package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// prepared are the readers' statements, each prepared when it is first needed: parsing one takes
// longer than finding a run with it. There are only as many as there are kinds of queries, and
// closing their DB closes them.
type prepared struct {
	mu    sync.Mutex
	known map[string]*sql.Stmt
}

// atMost ends a statement with a limit on its rows. SQLite looks at a bare parameter there when it
// plans, and would parse the whole statement again for every value.
const atMost = " LIMIT ? + 0"

// query runs a query on one of the readers.
func (p *prepared) query(ctx context.Context, readers *sql.DB, query string, args ...any) (*sql.Rows, error) {
	p.mu.Lock()
	stmt, ok := p.known[query]
	if !ok {
		var err error
		if stmt, err = readers.PrepareContext(ctx, query); err != nil {
			p.mu.Unlock()
			return nil, err
		}
		if p.known == nil {
			p.known = map[string]*sql.Stmt{}
		}
		p.known[query] = stmt
	}
	p.mu.Unlock()
	return stmt.QueryContext(ctx, args...)
}
