package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/runner"
)

// face is the HTTP face of serve, or of a chat, while it is open.
type face struct {
	server *http.Server
	known  *listening // to other processes; nil where they cannot reach it
	state  string
	letGo  context.CancelCauseFunc // of the runs that it began
	hangUp context.CancelFunc      // on those who follow runs

	requests context.Context // that hangUp ends

	runs *runner.Runner
	told sync.WaitGroup
	once sync.Once
	log  *slog.Logger
}

// openFace serves the API where at says; began is called for every run that a request begins or
// goes on with, on a goroutine of its own.
func (a *app) openFace(ctx context.Context, at *reach, log *slog.Logger, r *runner.Runner, models *models, began func(*runner.Run)) (*face, error) {
	f, api, err := a.newFace(ctx, log, r, models, began)
	if err != nil {
		return nil, err
	}
	guard, err := at.guard(a.dir, api, a.config.Gateway.limits(), log)
	if err != nil {
		return nil, err
	}
	f.serveWith(guard)
	if f.server.TLSConfig, err = at.tlsConfig(); err != nil {
		return nil, err
	}
	listener, err := at.listen(ctx)
	if err != nil {
		return nil, err
	}
	f.known = at.listening(listener.Addr())
	if err := f.known.announce(a.dir); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	go f.serve(gateway.KeepRoom(listener, f.closeIdle))
	log.Info("listening", "at", f.known.Address, "url", f.known.URL)
	a.invite(f.known.URL)
	return f, nil
}

// newFace makes a face and its API, which nothing guards. It is not served yet.
func (a *app) newFace(ctx context.Context, log *slog.Logger, r *runner.Runner, models *models, began func(*runner.Run)) (*face, http.Handler, error) {
	known, err := a.healthFile()
	if err != nil {
		return nil, nil, err
	}
	f := &face{runs: r, log: log, state: a.dir}
	work, letGo := context.WithCancelCause(context.WithoutCancel(ctx))
	f.requests, f.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	f.letGo = letGo
	s := &service{app: a, runner: r, models: models, known: known, work: work, began: func(run *runner.Run) {
		f.told.Go(func() { began(run) })
	}}
	served := gateway.Config{
		Runs: s, Log: a.log, Models: s.listModels, CheckModel: s.checkModel, Plugins: s.listPlugins, Version: version(), Logger: log,
	}
	if may := a.config.Gateway.Learn; may == nil || *may {
		served.Learn = s.learn
	}
	t := a.telemetry
	if t == nil {
		return f, gateway.New(served), nil
	}
	served.Log, served.Metrics = t.Followed(a.log), t.Handler()
	return f, t.Requests(gateway.New(served)), nil
}

// serveWith makes the server that answers with handler.
func (f *face) serveWith(handler http.Handler) {
	f.server = gateway.Server(handler, f.log)
	f.server.BaseContext = func(net.Listener) context.Context { return f.requests }
}

// closeIdle closes connections that nothing is asked by.
func (f *face) closeIdle() {
	f.server.SetKeepAlivesEnabled(false)
	f.server.SetKeepAlivesEnabled(true)
}

// invite shows a person, and no log file, how to log in.
func (a *app) invite(url string) {
	if url == "" || !a.screen.liveOut {
		return
	}
	link, err := loginLink(a.dir, url)
	if err != nil {
		a.screen.line("mulligan: " + oneLine(err.Error()))
		return
	}
	a.screen.line("Open " + link + " within a minute; `" + a.hint("login") + "` prints another link.")
}

func (f *face) serve(listener net.Listener) {
	var err error
	if f.server.TLSConfig != nil {
		err = f.server.ServeTLS(listener, "", "")
	} else {
		err = f.server.Serve(listener)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		f.log.Error("the HTTP face broke", "err", err)
	}
}

// close stops serving, and lets go of the runs that requests began. Whoever calls it first
// does that; the others wait for it.
func (f *face) close() { f.once.Do(f.leave) }

func (f *face) leave() {
	if f.known != nil {
		if err := f.known.withdraw(f.state); err != nil {
			f.log.Warn("others may be told that this gateway still serves", "err", err)
		}
	}
	f.hangUp()
	f.letGo(runner.ErrLetGo)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	if err := f.server.Shutdown(ctx); err != nil {
		f.log.Warn("requests were cut", "err", err)
	}
	if err := f.runs.Drain(ctx); err != nil {
		f.log.Warn("some runs could not be let go of", "err", err)
		return
	}
	f.told.Wait()
}
