package server

import (
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// runsLog is the log that runs are written to. Calls through the proxy are written behind their
// streams, because nobody resumes them and their callers read no timeline. A call whose
// contents are kept can be resumed, so it is written like any other run.
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

// closeLog closes the timeline after everything is written.
func (srv *Server) closeLog() error {
	if srv.ledger != nil {
		return srv.ledger.Close()
	}
	return srv.Log.Close()
}
