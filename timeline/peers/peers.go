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
	fresh    = time.Second           // that a list of the members is believed
	patience = 5 * time.Second       // with one that does not read, or does not answer
	beat     = time.Second           // between signs of life on a quiet connection
	rest     = time.Second           // before one that broke is made anew
	maxLine  = 128 << 10             // bytes of one line
	maxRuns  = 4096                  // that are followed through one connection
	maxPeers = 256                   // connections that come in
	settle   = 20 * time.Millisecond // in which changes of what is followed are gathered
)

// Journal is what of a timeline.Journal is needed.
type Journal interface {
	Speaks(ctx context.Context, run string) iter.Seq[timeline.Speech]
	Hear(member string, s timeline.Speech) (again bool)
	Unheard(runs ...string)
	Elsewhere() (runs map[string]string, changed <-chan struct{})
}

// Peers is one member's side.
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

// Listen listens at an address, host:port, of which the port may be 0. members gives all that share
// the database. Nobody is answered before Run.
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

// Address is where it listens, host:port.
func (p *Peers) Address() string { return p.listener.Addr().String() }

// Seal is the SHA-256 of its certificate, in hexadecimal digits.
func (p *Peers) Seal() string { return p.seal }

// Run tells others and hears them, until ctx ends. It is called once.
func (p *Peers) Run(ctx context.Context) {
	defer p.working.Wait()
	defer p.closing()
	defer context.AfterFunc(ctx, p.closing)()
	p.working.Go(p.answer)
	p.listen()
}
