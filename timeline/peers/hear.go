package peers

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// listen connects to each member that drives runs which are followed here, until the context ends.
func (p *Peers) listen() {
	ears := map[string]*ear{}
	for {
		runs, changed := p.journal.Elsewhere()
		by := map[string]map[string]bool{}
		for run, member := range runs {
			if by[member] == nil {
				by[member] = map[string]bool{}
			}
			by[member][run] = true
		}
		for member := range by {
			if ears[member] == nil {
				e := &ear{peers: p, member: member, changed: make(chan struct{}, 1)}
				e.ctx, e.stop = context.WithCancel(p.ctx)
				ears[member] = e
				p.working.Go(e.run)
			}
		}
		for member, e := range ears {
			e.want(by[member])
			if len(by[member]) == 0 {
				e.stop()
				delete(ears, member)
			}
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			return
		}
		select {
		case <-time.After(settle):
		case <-p.ctx.Done():
			return
		}
	}
}

// ear is this process's connection to one member, to hear its runs.
type ear struct {
	peers   *Peers
	member  string
	ctx     context.Context
	stop    context.CancelFunc
	changed chan struct{} // of capacity 1

	mu     sync.Mutex
	wanted map[string]bool // runs
	again  map[string]bool // runs that have to begin again, true until that was asked for; what they say until then is dropped
}

// want sets which runs are followed now.
func (e *ear) want(runs map[string]bool) {
	e.mu.Lock()
	var over []string
	for run := range e.wanted {
		if !runs[run] {
			over = append(over, run)
			delete(e.again, run)
		}
	}
	e.wanted = runs
	e.mu.Unlock()
	e.peers.journal.Unheard(over...)
	e.wake()
}

func (e *ear) wake() {
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// run hears the member until nothing is wanted from it any more.
func (e *ear) run() {
	for silent := false; e.ctx.Err() == nil; {
		began := time.Now()
		err := e.hear()
		e.mu.Lock()
		runs := slices.Collect(maps.Keys(e.wanted))
		e.again = nil
		e.mu.Unlock()
		e.peers.journal.Unheard(runs...)
		if e.ctx.Err() != nil {
			return
		}
		if !silent || time.Since(began) > patience {
			e.peers.log.Info("another member cannot be reached: the text of its runs comes through the database until it can", "member", e.member, "err", err)
		}
		silent = true
		select {
		case <-time.After(rest):
		case <-e.ctx.Done():
		}
	}
}

// dial connects to the member.
func (e *ear) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	m, ok := e.peers.known.find(ctx, func(m timeline.Member) bool { return m.ID == e.member && m.Live != "" && m.Seal != "" })
	if !ok {
		return nil, errStranger
	}
	return (&tls.Dialer{Config: e.peers.asClient(m.Seal)}).DialContext(ctx, "tcp", m.Live)
}

// hear reads from the member until the connection breaks.
func (e *ear) hear() error {
	conn, err := e.dial()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(e.ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	asking.Go(func() { e.ask(ctx, newWriter(conn)) })
	for lines := scanner(conn); ; {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		var line told
		if !readLine(lines, &line) {
			return lines.Err()
		}
		if line.Run != "" {
			e.heard(line.speech())
		}
	}
}

// heard shows a piece to the run's followers, or asks for the run from its beginning.
func (e *ear) heard(s timeline.Speech) {
	e.mu.Lock()
	_, waits := e.again[s.Run]
	if s.Begins {
		delete(e.again, s.Run)
		waits = false
	}
	e.mu.Unlock()
	if waits || !e.peers.journal.Hear(e.member, s) {
		return
	}
	e.mu.Lock()
	if e.again == nil {
		e.again = map[string]bool{}
	}
	e.again[s.Run] = true
	e.mu.Unlock()
	e.wake()
}

// ask tells the member which runs are followed, whenever that changes.
func (e *ear) ask(ctx context.Context, out *writer) {
	follows := map[string]bool{}
	for {
		for _, line := range e.changes(follows) {
			if out.write(line) != nil {
				return
			}
		}
		select {
		case <-e.changed:
		case <-ctx.Done():
			return
		}
	}
}

// changes are the lines that tell the member what is wanted; follows, what it was told, becomes
// that.
func (e *ear) changes(follows map[string]bool) (lines []asked) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for run := range follows {
		if !e.wanted[run] {
			delete(follows, run)
			lines = append(lines, asked{Leave: run})
		}
	}
	for run := range e.wanted {
		if !follows[run] || e.again[run] {
			if e.again[run] {
				e.again[run] = false
			}
			if !follows[run] && len(follows) == maxRuns {
				continue // the followers of other runs get what is saved
			}
			follows[run] = true
			lines = append(lines, asked{Follow: run})
		}
	}
	return lines
}
