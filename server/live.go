package server

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/peers"
)

// near is a store that knows the address at which others may reach this machine.
type near interface {
	Near(ctx context.Context) (string, error)
}

// tellMembers exchanges live text with the members that share the database until stop is called; me
// gets the address to reach this one. Without it, text from other members is seen once it is saved.
func (srv *Server) tellMembers(ctx context.Context, me *timeline.Member, log *slog.Logger) (stop func()) {
	stop = func() {}
	journal, ok := srv.Log.(*timeline.Journal)
	members, shared := besides[timeline.Members](srv.Log)
	if !ok || !shared || srv.Config.Gateway.Live == config.NoLive {
		return stop
	}
	address, err := srv.liveAddress(ctx)
	if err != nil {
		log.Warn("other members see what runs say here as it is saved", "err", err)
		return stop
	}
	p, err := peers.Listen(ctx, address, journal, members.Members, log)
	if err != nil {
		log.Warn("other members see what runs say here as it is saved: set gateway.live to an address of this machine", "err", err)
		return stop
	}
	me.Live, me.Seal = cmp.Or(srv.Config.Gateway.Live, p.Address()), p.Seal()
	telling, over := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { p.Run(telling) })
	return func() {
		over()
		done.Wait()
	}
}

// liveAddress is where to listen for other members. A configured address may belong to a machine in
// front of this one; then only its port is used.
func (srv *Server) liveAddress(ctx context.Context) (string, error) {
	if at := srv.Config.Gateway.Live; at != "" {
		host, port, err := net.SplitHostPort(at)
		if err == nil && !ours(ctx, host) {
			host = ""
		}
		return net.JoinHostPort(host, port), err
	}
	store, ok := besides[near](srv.Log)
	if !ok {
		return "127.0.0.1:0", nil
	}
	host, err := store.Near(ctx)
	return net.JoinHostPort(host, "0"), err
}

// ours reports whether a host is an address of this machine.
func ours(ctx context.Context, host string) bool {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
