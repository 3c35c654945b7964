package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"syscall"

	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// Serve drives the runs of the store, including those that other processes began, and serves the
// page and the HTTP API where at says, until ctx ends. log gets the address and the outcomes of
// runs, but nothing that is said in them. Serve opens the store if it is not open. When ctx
// ends, runs in progress are released, and the next process that serves the store resumes them.
// With the gateway role it drives no runs. A Server serves once, also if that failed: what a second
// time would start, Close would not end.
func (srv *Server) Serve(ctx context.Context, at *Reach, log *slog.Logger) error {
	if srv.Log == nil {
		if err := srv.OpenLog(ctx); err != nil {
			return err
		}
	}
	if err := srv.checkRole(at); err != nil {
		return err
	}
	if srv.served.Swap(true) {
		return errServed
	}
	options := srv.Observed(ctx, at.Address != noFace, log)
	if at.Role == roleGateway {
		options = append(options, runner.WithHandOver())
	}
	r, models, err := srv.Driver(ctx, log, nil, options...)
	if err != nil {
		return err
	}
	defer models.Close()
	models.driveless = at.Role == roleGateway
	log.Info("serving", "store", srv.Place())
	srv.warnOfLack(models.lacks(srv.Config), at, log)
	defer log.Info("stopped")
	told, err := srv.tellWebhooks(ctx, log)
	if err != nil {
		return err
	}
	defer told()
	tell := func(word string) func(*runner.Run) {
		return func(run *runner.Run) { tellRun(log, run, word) }
	}
	me := timeline.Member{Name: r.Owner(), Role: cmp.Or(at.Role, RoleAll), Labels: srv.Config.MachineHas()}
	defer srv.tellMembers(ctx, &me, log)()
	if at.Address == noFace {
		defer srv.join(ctx, me, log)()
		return r.Keep(ctx, tell("goes on"))
	}
	httpServer, err := srv.openHTTPServer(ctx, at, log, r, models, tell("begins"))
	if at.Usual && errors.Is(err, syscall.EADDRINUSE) {
		log.Warn("another program is listening at " + at.Address + ": runs are kept, without a page and an API; choose another address with --listen")
		defer srv.join(ctx, me, log)()
		return r.Keep(ctx, tell("goes on"))
	}
	if err != nil {
		return err
	}
	defer httpServer.Close()
	me.Address = httpServer.known.Address
	defer srv.join(ctx, me, log)()
	defer context.AfterFunc(ctx, httpServer.Close)() // at once, so that no run begins while others are released
	if at.Role == roleGateway {
		<-ctx.Done()
		return nil
	}
	return r.Keep(ctx, tell("goes on"))
}

var errServed = errors.New("this Server has served: close it, and make another one by server.New")

// warnOfLack says what is missing before a model can be asked, if anything is.
func (srv *Server) warnOfLack(missing error, at *Reach, log *slog.Logger) {
	switch {
	case missing == nil:
	case srv.Config.Model == "" && at.Address != noFace:
		log.Warn("no model is chosen and no key is set: the page says what to do, and shows without a key how runs recover")
	default:
		log.Warn(missing.Error())
	}
}
