package server

import (
	"context"
	"path/filepath"
	"time"

	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/timeline"
)

// besides returns a timeline's store as an optional interface, if it implements it: machines
// share more in the store than runs.
func besides[T any](log timeline.Log) (what T, ok bool) {
	journal, ok := log.(*timeline.Journal)
	if !ok {
		return what, false
	}
	what, ok = journal.StandsOn().(T)
	return what, ok
}

// now is the time that runs go by.
func (srv *Server) now() time.Time { return timeline.ClockOf(srv.Log)() }

// openShared opens the shared database, if there is one and it is not open yet.
func (srv *Server) openShared(ctx context.Context) error {
	if srv.Log != nil || srv.Config.Store == "" {
		return nil
	}
	return srv.OpenLog(ctx)
}

// Health is what is known about providers, shared with all processes that use the same
// database or else the same state folder.
func (srv *Server) Health(ctx context.Context) (*health.Health, error) {
	if srv.health != nil {
		return srv.health, nil
	}
	err := srv.openShared(ctx)
	if err != nil {
		return nil, err
	}
	if store, ok := besides[health.Store](srv.Log); ok {
		looking, stop := context.WithCancel(context.WithoutCancel(ctx))
		if srv.health, err = health.Share(looking, store); err != nil {
			stop()
			return nil, err
		}
		srv.stopLooking = stop
		return srv.health, nil
	}
	srv.health, err = health.Open(filepath.Join(srv.Dir, "health.json"))
	return srv.health, err
}
