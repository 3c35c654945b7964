package recovery

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// version is the version of the stored form of an event.
const version = 1

// Unknown is an event of a newer version. It is kept as it came, and changes nothing.
type Unknown struct {
	Type string
	Data json.RawMessage
}

type storedEvent struct {
	V     int       `json:"v"`
	Run   string    `json:"run"`
	Seq   uint64    `json:"seq"`
	Time  time.Time `json:"time"`
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Inbox uint64    `json:"inbox,omitempty"`
	Data  within    `json:"data"`
}

// within is a part of the JSON document being read. Unlike a json.RawMessage it is not a copy,
// since a long answer is already in memory several times. Code that keeps it longer than the
// document must copy it.
type within []byte

// MarshalJSON writes w as it is.
func (w within) MarshalJSON() ([]byte, error) { return json.RawMessage(w).MarshalJSON() }

// UnmarshalJSON makes w point at b, without a copy.
func (w *within) UnmarshalJSON(b []byte) error {
	*w = b
	return nil
}

// MarshalJSON gives the stored and sent form: {"v":1,"run":…,"seq":…,"time":…,
// "type":"began","text":…,"data":{…}}.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("event %d of run %s has no body", e.Seq, e.Run)
	}
	data, ok := e.Body.(Unknown)
	raw := data.Data
	if !ok {
		var err error
		if raw, err = json.Marshal(e.Body); err != nil {
			return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Type(), err)
		}
	}
	return json.Marshal(storedEvent{
		V: version, Run: e.Run, Seq: e.Seq, Time: e.Time, Type: e.Type(), Text: e.Text, Inbox: e.Inbox, Data: within(raw),
	})
}

// UnmarshalJSON reads the stored form; an event type that this version does not
// know becomes Unknown.
func (e *Event) UnmarshalJSON(b []byte) error {
	var s storedEvent
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("stored event: %w", err)
	}
	*e = Event{Run: s.Run, Seq: s.Seq, Time: s.Time, Text: s.Text, Inbox: s.Inbox}
	t, ok := bodies[s.Type]
	if !ok {
		e.Body = Unknown{Type: s.Type, Data: slices.Clone(json.RawMessage(s.Data))}
		return nil
	}
	v := reflect.New(t)
	if err := unmarshalLong(s.Data, v.Interface()); err != nil {
		return fmt.Errorf("stored event %d (%s): %w", s.Seq, s.Type, err)
	}
	body, ok := v.Elem().Interface().(Body)
	if !ok {
		return fmt.Errorf("stored event %d: %s is not an event", s.Seq, s.Type)
	}
	e.Body = body
	return nil
}
