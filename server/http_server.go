package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// HTTPServer is the HTTP server of serve, or of a chat, while it is open.
type HTTPServer struct {
	server *http.Server
	known  *Listening // what other processes are told; nil if they cannot connect
	state  string
	letGo  context.CancelCauseFunc // releases the runs that it began
	hangUp context.CancelFunc      // ends the requests of those who follow runs

	requests context.Context // ended by hangUp

	runs *runner.Runner
	told sync.WaitGroup
	once sync.Once
	log  *slog.Logger
}

// openHTTPServer serves the API as at says. It calls began for every run that a request begins or
// resumes; the request waits for that.
func (srv *Server) openHTTPServer(ctx context.Context, at *Reach, log *slog.Logger, r *runner.Runner, models *Models, began func(*runner.Run)) (*HTTPServer, error) {
	srv.private = at.private()
	f, api, err := srv.NewHTTPServer(ctx, log, r, models, began)
	if err != nil {
		return nil, err
	}
	guard, token, err := srv.guard(ctx, at, api, log)
	if err != nil {
		return nil, err
	}
	p, err := srv.NewProxy(r, models, token, at, log)
	if err != nil {
		return nil, exit.Usagef("proxy: %w", err)
	}
	f.ServeWith(doors(p, guard))
	if f.server.TLSConfig, err = at.tlsConfig(); err != nil {
		return nil, err
	}
	listener, err := at.listen(ctx)
	if err != nil {
		return nil, err
	}
	f.known = at.listening(listener.Addr())
	if err := f.known.Announce(srv.Dir); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	go f.Serve(gateway.KeepRoom(listener, f.closeIdle))
	log.Info("listening", "at", f.known.Address, "url", f.known.URL)
	if rest := srv.invite(ctx, f.known.URL, at.Open); at.Open {
		f.told.Go(rest) // opening a browser takes a while
	} else {
		rest()
	}
	return f, nil
}

// NewHTTPServer makes an HTTPServer and its API, without authentication. Nothing is served yet. Of
// each run that a request begins or resumes, began is told before the request is answered: it must not
// wait for the run.
func (srv *Server) NewHTTPServer(ctx context.Context, log *slog.Logger, r *runner.Runner, models *Models, began func(*runner.Run)) (*HTTPServer, http.Handler, error) {
	known, err := srv.Health(ctx)
	if err != nil {
		return nil, nil, err
	}
	f := &HTTPServer{runs: r, log: log, state: srv.Dir}
	work, letGo := context.WithCancelCause(context.WithoutCancel(ctx))
	f.requests, f.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	f.letGo = letGo
	s := &Runs{app: srv, runner: r, models: models, known: known, work: work, began: began}
	desk := srv.Advice(r, models)
	served := gateway.Config{
		Advice: desk, RPC: advice.RPC(desk, gateway.CallerName),
		Runs: s, Log: srv.Log, Models: s.listModels, CheckModel: s.checkModel, ToolResults: s.returnResults, Forget: models.Set.Forget, Plugins: s.listPlugins, Plugin: s.actOnPlugin, Providers: s.listProviders, Version: build.Version(), Logger: log, Lab: models.lab(),
		Keys: srv.keyDesk(models, known),
	}
	served.Stranded = srv.Stranded
	if _, shared := besides[timeline.Members](srv.Log); shared {
		served.Members = srv.Members
	}
	if may := srv.Config.Gateway.Learn; may == nil || *may {
		served.Learn = s.learn
	}
	t := srv.telemetry
	if t == nil {
		return f, gateway.New(served), nil
	}
	served.Log, served.Metrics = t.Followed(srv.Log), t.Handler()
	return f, t.Requests(gateway.New(served)), nil
}

// Advice answers programs that make their model calls themselves.
func (srv *Server) Advice(r *runner.Runner, models *Models) *advice.Desk {
	return &advice.Desk{Runs: r, Classify: models.known.Classify}
}

// ServeWith makes the server that answers with handler.
func (f *HTTPServer) ServeWith(handler http.Handler) {
	f.server = gateway.Server(handler, f.log)
	f.server.BaseContext = func(net.Listener) context.Context { return f.requests }
}

// closeIdle closes idle connections.
func (f *HTTPServer) closeIdle() {
	f.server.SetKeepAlivesEnabled(false)
	f.server.SetKeepAlivesEnabled(true)
}

// Serve answers requests until Close.
func (f *HTTPServer) Serve(listener net.Listener) {
	var err error
	if f.server.TLSConfig != nil {
		err = f.server.ServeTLS(listener, "", "")
	} else {
		err = f.server.Serve(listener)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		f.log.Error("the HTTP server broke", "err", err)
	}
}

// Close stops serving, and releases the runs that requests began. The first caller does
// it; the others wait for it.
func (f *HTTPServer) Close() { f.once.Do(f.leave) }

func (f *HTTPServer) leave() {
	if f.known != nil {
		if err := f.known.Withdraw(f.state); err != nil {
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
