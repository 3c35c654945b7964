package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/timeline"
)

// The roles of a process among those that share a database.
const (
	RoleAll     = "all"     // it serves, and drives runs
	roleGateway = "gateway" // it serves, and others drive the runs
)

const (
	heartbeat = time.Second
	memberTTL = 5 * time.Second // if it has not reported for this long, others take over its runs
)

// checkRole says why this process cannot have its role; nil if it can.
func (srv *Server) checkRole(at *Reach) error {
	_, shared := besides[timeline.Members](srv.Log)
	switch {
	case at.Role != "" && at.Role != RoleAll && at.Role != roleGateway:
		return exit.Usagef("--role %s: it is %s or %s", at.Role, RoleAll, roleGateway)
	case at.Role == roleGateway && !shared:
		return exit.Usagef("--role %s: runs would be driven by nobody. Others drive them where they share a database: name it with --store", roleGateway)
	case at.Role == roleGateway && at.Address == noFace:
		return exit.Usagef("--role %s with --listen %s: there is nothing left to do", roleGateway, noFace)
	}
	return nil
}

// join registers this process with the others that share the database, until leave is called.
func (srv *Server) join(ctx context.Context, m timeline.Member, log *slog.Logger) (leave func()) {
	store, ok := besides[timeline.Members](srv.Log)
	if !ok {
		return func() {}
	}
	m.Version = build.Version()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var beating sync.WaitGroup
	beating.Go(func() {
		beat(ctx, store, m, log)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeat)
		defer cancel()
		if err := store.Leave(bounded); err != nil {
			log.Warn("the others are not told that this process leaves", "err", err)
		}
	})
	return func() {
		stop()
		beating.Wait()
	}
}

// beat renews this process's membership until ctx ends.
func beat(ctx context.Context, store timeline.Members, m timeline.Member, log *slog.Logger) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for silent := false; ; {
		began := time.Now()
		err := store.Join(ctx, m, memberTTL)
		m.Lag = time.Since(began)
		if err != nil && ctx.Err() == nil && !silent {
			log.Warn("the others cannot be told that this process is there", "err", err)
		}
		silent = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Members are the processes that share the database; nil without such a database.
func (srv *Server) Members(ctx context.Context) ([]gateway.Member, error) {
	store, ok := besides[timeline.Members](srv.Log)
	if !ok {
		return []gateway.Member{}, nil
	}
	list, err := store.Members(ctx)
	members := make([]gateway.Member, 0, len(list))
	for _, m := range list {
		members = append(members, gateway.Member{
			Name: m.Name, Version: m.Version, Role: m.Role, Address: m.Address, Labels: m.Labels, Joined: m.Joined.UTC(),
			SeenMS: m.Silent.Milliseconds(), LagMS: m.Lag.Milliseconds(), Drives: m.Drives, Gone: m.Gone,
		})
	}
	return members, err
}

// ShowMembers prints them as a table.
func ShowMembers(to io.Writer, members []gateway.Member) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tROLE\tVERSION\tDRIVES\tLAG\tSEEN\tADDRESS\tHAS")
	for _, m := range members {
		seen := (time.Duration(m.SeenMS) * time.Millisecond).Round(time.Second).String() + " ago"
		if m.Gone {
			seen += ", gone"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d ms\t%s\t%s\t%s\n", terminal.OneLine(m.Name), terminal.OneLine(m.Role), terminal.OneLine(m.Version),
			m.Drives, m.LagMS, seen, cmp.Or(terminal.OneLine(m.Address), "-"), terminal.OneLine(m.Labels.String()))
	}
	return table.Flush()
}
