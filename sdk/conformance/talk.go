package conformance

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

//go:embed talks/*.json
var talks embed.FS

// Talk is a question and what its answer must be: exactly one of Reply, Error,
// NoOpinion and Any. README.md explains the fields.
type Talk struct {
	Name  string          `json:"name"`
	Event json.RawMessage `json:"event"` // a RunErrorRequest

	Reply     json.RawMessage `json:"reply,omitempty"` // a RunErrorResponse
	Error     *Error          `json:"error,omitempty"`
	NoOpinion bool            `json:"noOpinion,omitempty"` // an error, or a reply that a host finds invalid
	Any       bool            `json:"any,omitempty"`       // a reply that a host finds valid, no opinion included

	Times    int             `json:"times,omitempty"`      // calls at once, 0 = 1; # in Event and Reply is the number of the call
	Deadline int64           `json:"deadlineMs,omitempty"` // of the call, 0 = 10 s
	Padding  int             `json:"padding,omitempty"`    // bytes of names of 1000 bytes that are added to unsafe_tools
	Extra    []byte          `json:"extra,omitempty"`      // base64; added to the encoded event
	Stderr   string          `json:"stderr,omitempty"`     // a part of a line on standard error
	Log      json.RawMessage `json:"log,omitempty"`        // what a JSON line on standard error has, beside other keys
}

// Error is a status that a call must end with.
type Error struct {
	Codes   []codes.Code `json:"codes"`             // one of these; by name in JSON, as "UNKNOWN"
	Message string       `json:"message,omitempty"` // what the message contains
}

// Talks gives all talks, in the order in which they are held.
func Talks() ([]Talk, error) {
	files, err := talks.ReadDir("talks")
	if err != nil {
		return nil, err
	}
	var all []Talk
	for _, file := range files {
		text, err := talks.ReadFile("talks/" + file.Name())
		if err != nil {
			return nil, err
		}
		var some []Talk
		in := json.NewDecoder(bytes.NewReader(text))
		in.DisallowUnknownFields()
		if err := in.Decode(&some); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		topic := strings.TrimSuffix(file.Name(), ".json")
		for _, talk := range some {
			talk.Name = topic + "/" + talk.Name
			all = append(all, talk)
		}
	}
	return all, nil
}

// request makes the event of the n-th call.
func (t Talk) request(n int) (*mulliganv1.RunErrorRequest, error) {
	m := &mulliganv1.RunErrorRequest{}
	if err := protojson.Unmarshal(t.numbered(t.Event, n), m); err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	m.DryRun = m.DryRun || t.Any // it is asked of any plugin, whatever that does
	for range t.Padding / 1000 {
		m.UnsafeTools = append(m.UnsafeTools, strings.Repeat("x", 1000))
	}
	if len(t.Extra) == 0 {
		return m, nil
	}
	return m, proto.UnmarshalOptions{Merge: true}.Unmarshal(t.Extra, m)
}

func (t Talk) numbered(text json.RawMessage, n int) []byte {
	if t.Times == 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte("#"), []byte(strconv.Itoa(n)))
}

// judge says what is wrong with the answer to the n-th call.
func (t Talk) judge(n int, reply *mulliganv1.RunErrorResponse, err error) error {
	switch {
	case t.Error != nil:
		return t.Error.judge(reply, err)
	case t.NoOpinion:
		if vote, invalid := protoconv.Reply(reply); err == nil && invalid == nil {
			return fmt.Errorf("an answer that counts: %+v", vote)
		}
		return nil
	case err != nil:
		return err
	case t.Any:
		_, err := protoconv.Reply(reply)
		return err
	}
	want := &mulliganv1.RunErrorResponse{}
	if err := protojson.Unmarshal(t.numbered(t.Reply, n), want); err != nil {
		return fmt.Errorf("the talk's own reply: %w", err)
	}
	if len(reply.ProtoReflect().GetUnknown()) > 0 {
		return errors.New("the reply has fields that the protocol does not")
	}
	// An empty message says as much as none.
	if want.GetAdjust() == nil && proto.Equal(reply.GetAdjust(), &mulliganv1.Adjust{}) {
		reply.Adjust = nil
	}
	if !proto.Equal(reply, want) {
		return fmt.Errorf("reply {%v}, want {%v}", reply, want)
	}
	return nil
}

func (e *Error) judge(reply *mulliganv1.RunErrorResponse, err error) error {
	if err == nil {
		return fmt.Errorf("reply {%v}, want the status %v", reply, e.Codes)
	}
	s := status.Convert(err)
	if !slices.Contains(e.Codes, s.Code()) || !strings.Contains(s.Message(), e.Message) {
		return fmt.Errorf("status %v %q, want %v %q", s.Code(), s.Message(), e.Codes, e.Message)
	}
	if len(s.Message()) > maxError {
		return fmt.Errorf("an error of %d bytes, at most %d", len(s.Message()), maxError)
	}
	return nil
}

// maxError is the most that an error may say, in bytes.
const maxError = 2 << 10

// heard says what is missing on standard error.
func (t Talk) heard(stderr string) error {
	if !strings.Contains(stderr, t.Stderr) {
		return fmt.Errorf("not on standard error: %q", t.Stderr)
	}
	if t.Log == nil {
		return nil
	}
	var want map[string]any
	if err := json.Unmarshal(t.Log, &want); err != nil {
		return err
	}
	for line := range strings.Lines(stderr) {
		var got map[string]any
		if json.Unmarshal([]byte(line), &got) == nil && holds(got, want) {
			return nil
		}
	}
	return fmt.Errorf("no line on standard error has %s and a @timestamp in RFC 3339", t.Log)
}

func holds(got, want map[string]any) bool {
	at, _ := got["@timestamp"].(string)
	if _, err := time.Parse(time.RFC3339, at); err != nil {
		return false
	}
	for key, value := range want {
		if got[key] != value {
			return false
		}
	}
	return true
}
