package wire

import (
	"encoding/json"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// unread is the type of an event whose body this version's schema does not have;
// its data is the bytes as a JSON string.
const unread = "proto_unknown"

// bodies maps the fields of Event's oneof to the types of the domain.
var bodies = map[protoreflect.Name]reflect.Type{
	"started":          reflect.TypeFor[recovery.Started](),
	"policy_changed":   reflect.TypeFor[recovery.PolicyChanged](),
	"claimed":          reflect.TypeFor[recovery.Claimed](),
	"began":            reflect.TypeFor[recovery.Began](),
	"checkpointed":     reflect.TypeFor[recovery.Checkpointed](),
	"answered":         reflect.TypeFor[recovery.Answered](),
	"failed":           reflect.TypeFor[recovery.Failed](),
	"repaired":         reflect.TypeFor[recovery.Repaired](),
	"voted":            reflect.TypeFor[recovery.Voted](),
	"decided":          reflect.TypeFor[recovery.Decided](),
	"waiting":          reflect.TypeFor[recovery.Waiting](),
	"due":              reflect.TypeFor[recovery.Due](),
	"tool_began":       reflect.TypeFor[recovery.ToolBegan](),
	"tool_returned":    reflect.TypeFor[recovery.ToolReturned](),
	"compacted":        reflect.TypeFor[recovery.Compacted](),
	"compacting":       reflect.TypeFor[recovery.Compacting](),
	"noted":            reflect.TypeFor[recovery.Noted](),
	"suggested":        reflect.TypeFor[recovery.Suggested](),
	"accepted":         reflect.TypeFor[recovery.Accepted](),
	"cancel_requested": reflect.TypeFor[recovery.CancelRequested](),
	"paused":           reflect.TypeFor[recovery.Paused](),
	"ended":            reflect.TypeFor[recovery.Ended](),
	"slept":            reflect.TypeFor[recovery.Slept](),
}

// EventToProto converts e. It fails only for an event without a body.
func EventToProto(e recovery.Event) (*mulliganv1.Event, error) {
	m := &mulliganv1.Event{Run: valid(e.Run), Seq: e.Seq, Text: valid(e.Text), Inbox: e.Inbox}
	if !e.Time.IsZero() {
		m.Time = timestamppb.New(e.Time)
	}
	if unknown, ok := e.Body.(recovery.Unknown); ok {
		return m, unknownToProto(unknown, m)
	}
	field := m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(e.Type()))
	if e.Body == nil || field == nil || bodies[field.Name()] == nil {
		return nil, fmt.Errorf("event %d of run %s: no message for %q", e.Seq, e.Run, e.Type())
	}
	encode(reflect.ValueOf(e.Body), m.ProtoReflect().Mutable(field).Message())
	return m, nil
}

// EventFromProto converts m; a body that this version does not know is kept as
// recovery.Unknown.
func EventFromProto(m *mulliganv1.Event) (recovery.Event, error) {
	e := recovery.Event{Run: m.GetRun(), Seq: m.GetSeq(), Text: m.GetText(), Inbox: m.GetInbox()}
	if m.GetTime() != nil {
		e.Time = m.GetTime().AsTime()
	}
	if unknown := m.GetUnknown(); unknown != nil {
		e.Body = recovery.Unknown{Type: unknown.GetType(), Data: unknown.GetData()}
		return e, nil
	}
	r := m.ProtoReflect()
	field := r.WhichOneof(r.Descriptor().Oneofs().ByName("body"))
	if field == nil {
		return unreadEvent(e, r.GetUnknown())
	}
	body := reflect.New(bodies[field.Name()]).Elem()
	decode(r.Get(field).Message(), body)
	e.Body, _ = body.Interface().(recovery.Body)
	return e, nil
}

func unreadEvent(e recovery.Event, bytes []byte) (recovery.Event, error) {
	if len(bytes) == 0 {
		return e, fmt.Errorf("event %d of run %s has no body", e.Seq, e.Run)
	}
	data, err := json.Marshal(bytes)
	e.Body = recovery.Unknown{Type: unread, Data: data}
	return e, err
}

func unknownToProto(u recovery.Unknown, m *mulliganv1.Event) error {
	if u.Type != unread {
		m.Body = &mulliganv1.Event_Unknown{Unknown: &mulliganv1.UnknownEvent{Type: valid(u.Type), Data: u.Data}}
		return nil
	}
	var bytes []byte
	if err := json.Unmarshal(u.Data, &bytes); err != nil {
		return fmt.Errorf("event %d of run %s: unread bytes: %w", m.GetSeq(), m.GetRun(), err)
	}
	m.ProtoReflect().SetUnknown(bytes)
	return nil
}
