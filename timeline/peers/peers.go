package peers

import (
	"context"
	"crypto/tls"
	"iter"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

const (
	fresh    = time.Second           // how long a list of the members is used
	patience = 5 * time.Second       // with a member that does not read, or does not answer
	beat     = time.Second           // between lines on a quiet connection
	rest     = time.Second           // before a new connection, after one broke
	maxLine  = 128 << 10             // bytes of one line
	maxRuns  = 4096                  // that are followed through one connection
	maxPeers = 256                   // incoming connections
	settle   = 20 * time.Millisecond // in which changes of what is followed are collected
)

// Journal is the part of a timeline.Journal that is needed.
type Journal interface {
	Speaks(ctx context.Context, run string) iter.Seq[timeline.Speech]
	Hear(member string, s timeline.Speech) (again bool)
	Unheard(runs ...string)
	Elsewhere() (runs map[string]string, changed <-chan struct{})
}

// Peers is one member's end of its connections to the others.
type Peers struct {
	journal     Journal
	known       known
	log         *slog.Logger
	listener    net.Listener
	certificate tls.Certificate
	seal        string

	ctx     context.Context // ends with Run
	closing context.CancelFunc
	working sync.WaitGroup
}

// Listen listens at an address, host:port; the port may be 0. members lists all members of the
// database. No connection is answered before Run.
func Listen(ctx context.Context, address string, journal Journal, members func(context.Context) ([]timeline.Member, error), log *slog.Logger) (*Peers, error) {
	certificate, seal, err := newCertificate()
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Peers{journal: journal, known: known{members: members}, log: log, listener: listener, certificate: certificate, seal: seal}
	p.ctx, p.closing = context.WithCancel(context.WithoutCancel(ctx))
	return p, nil
}

// Address is where p listens, host:port.
func (p *Peers) Address() string { return p.listener.Addr().String() }

// Seal is the SHA-256 of p's certificate, in hexadecimal digits.
func (p *Peers) Seal() string { return p.seal }

// Run sends live text to other members and receives theirs, until ctx ends. It is called only once.
func (p *Peers) Run(ctx context.Context) {
	defer p.working.Wait()
	defer p.closing()
	defer context.AfterFunc(ctx, p.closing)()
	p.working.Go(p.answer)
	p.listen()
}
