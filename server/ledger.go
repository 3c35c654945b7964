package server

import (
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// runsLog is the log that runs are written to. What becomes of a call through the proxy is written
// beside its stream and not before it: nobody resumes it, and its caller reads no timeline. One
// whose contents are kept can be resumed, and waits for the disk like any other run.
func (srv *Server) runsLog() timeline.Log {
	if srv.ledger == nil && srv.Log != nil {
		srv.ledger = timeline.NewWriteBehind(srv.Log, func(s recovery.Started) bool {
			p := s.Policy
			return p.Tools == recovery.ToolsOfCaller && p.Keep == recovery.KeepFigures && p.Calls != recovery.CallsOfCaller
		})
	}
	if srv.ledger == nil {
		return nil
	}
	return srv.ledger
}

// closeLog closes the timeline, once all is in it.
func (srv *Server) closeLog() error {
	if srv.ledger != nil {
		return srv.ledger.Close()
	}
	return srv.Log.Close()
}
