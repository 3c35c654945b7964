package peers

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// answer accepts connections from other members until the context ends.
func (p *Peers) answer() {
	defer context.AfterFunc(p.ctx, func() { _ = p.listener.Close() })()
	places := make(chan struct{}, maxPeers)
	for {
		conn, err := p.listener.Accept()
		if p.ctx.Err() != nil {
			return
		}
		if err != nil { // for example, no file descriptor is left
			p.log.Warn("other members cannot hear what runs say here", "err", err)
			select {
			case <-time.After(rest):
			case <-p.ctx.Done():
			}
			continue
		}
		select {
		case places <- struct{}{}:
			p.working.Go(func() {
				defer func() { <-places }()
				p.serve(tls.Server(conn, p.asServer()))
			})
		default:
			_ = conn.Close()
		}
	}
}

// serve sends one other member the live text of the runs that it names.
func (p *Peers) serve(conn *tls.Conn) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	bounded, done := context.WithTimeout(ctx, patience)
	err := conn.HandshakeContext(bounded)
	if done(); err != nil {
		p.log.Debug("somebody who is no member of the database asked what runs say", "from", conn.RemoteAddr().String(), "err", err)
		return
	}
	s := &speeches{peers: p, ctx: ctx, out: newWriter(conn), runs: map[string]context.CancelFunc{}}
	defer s.telling.Wait()
	defer cancel()
	s.telling.Go(s.beat)
	s.take(conn)
}

// speeches is what one other member is sent.
type speeches struct {
	peers   *Peers
	ctx     context.Context
	out     *writer
	runs    map[string]context.CancelFunc // the runs that it follows
	telling sync.WaitGroup
}

// take reads which runs the other member follows, until the connection ends.
func (s *speeches) take(conn net.Conn) {
	for lines := scanner(conn); ; {
		var line asked
		if !readLine(lines, &line) {
			return
		}
		run := line.Follow + line.Leave
		if leave := s.runs[run]; leave != nil {
			leave()
			delete(s.runs, run)
		}
		if line.Follow == "" {
			continue
		}
		if len(s.runs) == maxRuns {
			s.peers.log.Warn("a member follows more runs than it is told of at once", "runs", maxRuns)
			return
		}
		ctx, leave := context.WithCancel(s.ctx)
		s.runs[run] = leave
		s.telling.Go(func() { s.tell(ctx, run) })
	}
}

// tell sends the live text of a run.
func (s *speeches) tell(ctx context.Context, run string) {
	for speech := range s.peers.journal.Speaks(ctx, run) {
		if ctx.Err() != nil || s.out.write(toldOf(speech)) != nil {
			return
		}
	}
}

// beat shows, on a quiet connection, that this process is alive.
func (s *speeches) beat() {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if s.out.write(told{}) != nil {
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}
