package webhook

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// message is the report of an event. It contains nothing that was said to a model or by one.
type message struct {
	Type       string          `json:"type"` // suggested, waiting, noted, ended
	Run        string          `json:"run"`
	Seq        uint64          `json:"seq"` // of the event in its run
	Time       time.Time       `json:"timestamp"`
	Text       string          `json:"text,omitempty"` // for people: one plain line
	Session    string          `json:"session,omitempty"`
	SessionKey string          `json:"sessionKey,omitempty"`
	AgentID    string          `json:"agentId,omitempty"`
	Labels     recovery.Labels `json:"labels,omitempty"`
	Data       recovery.Body   `json:"data"` // as in the run's events
}

// idOf identifies a message; it is the same each time the message is sent.
func idOf(e recovery.Event) string { return e.Run + "." + strconv.FormatUint(e.Seq, 10) }

// bodyOf is the body for an event of a run that began with began.
func bodyOf(e recovery.Event, began recovery.Started) ([]byte, error) {
	return json.Marshal(message{
		Type: e.Type(), Run: e.Run, Seq: e.Seq, Time: e.Time, Text: e.Text, Session: began.Session, SessionKey: began.SessionKey, AgentID: began.AgentID,
		Labels: began.Labels, Data: e.Body,
	})
}
