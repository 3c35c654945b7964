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

// face is the HTTP face of serve while it is open.
type face struct {
	server *http.Server
	letGo  context.CancelCauseFunc // of the runs that it began
	hangUp context.CancelFunc      // on those who follow runs
	runs   *runner.Runner
	told   sync.WaitGroup
	once   sync.Once
	log    *slog.Logger
}

// openFace serves the API at addr; began is called for every run that a request begins or
// goes on with, on a goroutine of its own.
func (a *app) openFace(ctx context.Context, addr string, log *slog.Logger, r *runner.Runner, models *models, began func(*runner.Run)) (*face, error) {
	known, err := a.healthFile()
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, usagef("--listen %s: %w; choose another address, for example 127.0.0.1:0", addr, err)
	}
	f := &face{runs: r, log: log}
	work, letGo := context.WithCancelCause(context.WithoutCancel(ctx))
	requests, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	f.letGo, f.hangUp = letGo, hangUp
	s := &service{app: a, runner: r, models: models, known: known, work: work, began: func(run *runner.Run) {
		f.told.Go(func() { began(run) })
	}}
	api := gateway.New(gateway.Config{
		Runs: s, Log: a.log, Models: s.listModels, Plugins: s.listPlugins, Version: version(), Logger: log,
	})
	f.server = &http.Server{
		Handler: api, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	go func() {
		if err := f.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the HTTP face broke", "err", err)
		}
	}()
	log.Info("listening", "url", "http://"+listener.Addr().String())
	return f, nil
}

// close stops serving, and lets go of the runs that requests began. Whoever calls it first
// does that; the others wait for it.
func (f *face) close() { f.once.Do(f.leave) }

func (f *face) leave() {
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
