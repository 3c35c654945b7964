package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// prepared are the statements of the readers, each prepared when it is first asked: to
// parse one takes longer than to look a run up with it. There are as many as ways to ask,
// and their DB closes them with itself.
type prepared struct {
	mu    sync.Mutex
	known map[string]*sql.Stmt
}

// atMost ends a statement that gives at most so many rows. SQLite looks at a bare parameter
// there when it plans, and so parses the whole statement again for every value.
const atMost = " LIMIT ? + 0"

// query asks readers.
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
