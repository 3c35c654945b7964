package protoconv

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// fill sets every exported field under v to a value that is not zero.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("word %d ä", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map:
		v.Set(reflect.ValueOf(recovery.Labels{"team": "ä"}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), int64(*n)).UTC()))
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("proto") != "-" {
				fill(v.Field(i), n)
			}
		}
	default:
		panic(v.Type())
	}
}

func filled[T any]() T {
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

// throughBytes returns what arrives at the other end.
func throughBytes[M proto.Message](t *testing.T, sent, received M) M {
	t.Helper()
	b, err := proto.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(b, received); err != nil {
		t.Fatal(err)
	}
	return received
}

func TestEveryKindComesBack(t *testing.T) {
	for _, kind := range append(failure.Kinds(), "", "kind_77", "kind_-3", "brand_new", "kind_1", "kind_007", "Timeout", "unspecified", "kind_") {
		f := filled[failure.Failure]()
		f.Kind = kind
		m := FailureToProto(f)
		if got := FailureFromProto(throughBytes(t, m, &mulliganv1.Failure{})); !reflect.DeepEqual(got, f) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", kind, got, f)
		}
	}
	for _, kind := range failure.Kinds() {
		if m := FailureToProto(failure.Failure{Kind: kind}); m.GetKind() == 0 {
			t.Errorf("%s has no number", kind)
		}
	}
	m := &mulliganv1.Failure{Kind: 4711}
	if back := FailureToProto(FailureFromProto(m)); back.GetKind() != 4711 {
		t.Errorf("4711 became %v", back)
	}
}

func TestRunErrorComesBack(t *testing.T) {
	e := filled[hooks.RunError]()
	e.ReplaySafety = hooks.ReplayUnsafe
	e.Transcript = []llm.Message{{Role: llm.RoleAssistant, Model: "a/m", Parts: []llm.Part{{Text: "Köln"}, {Call: &llm.ToolCall{ID: "1", Name: "f", Args: []byte(`{"a":1}`)}}}}}
	got := RunErrorFromProto(throughBytes(t, RunErrorToProto(e), &mulliganv1.RunErrorRequest{}))
	if !reflect.DeepEqual(got, e) {
		t.Errorf("got  %+v\nwant %+v", got, e)
	}
}

func TestBeforeCallComesBack(t *testing.T) {
	e := filled[hooks.BeforeCall]()
	e.Transcript = []llm.Message{llm.User("Köln")}
	got := BeforeCallFromProto(throughBytes(t, BeforeCallToProto(e), &mulliganv1.BeforeCallRequest{}))
	if !reflect.DeepEqual(got, e) {
		t.Errorf("got  %+v\nwant %+v", got, e)
	}
}

func TestToolErrorComesBack(t *testing.T) {
	e := filled[hooks.ToolError]()
	e.Transcript = []llm.Message{llm.User("Köln")}
	for _, safety := range []recovery.Safety{recovery.SafetyUnsafe, recovery.SafetyIdempotent, recovery.SafetyReadOnly} {
		e.Safety = safety
		got := ToolErrorFromProto(throughBytes(t, ToolErrorToProto(e), &mulliganv1.ToolErrorRequest{}))
		if !reflect.DeepEqual(got, e) {
			t.Errorf("got  %+v\nwant %+v", got, e)
		}
	}
}

func TestToolAdvice(t *testing.T) {
	for _, good := range []recovery.Vote{
		{},
		{Action: recovery.ActionRetry, Delay: 60_000, Reason: "it was busy"},
		{Action: recovery.ActionTell, Words: "Look into the archive instead."},
		{Action: recovery.ActionAsk, Reason: "it has failed three times"},
	} {
		if got, err := ToolAdvice(ToolAdviceToProto(good)); err != nil || !reflect.DeepEqual(got, good) {
			t.Errorf("%+v became %+v, %v", good, got, err)
		}
	}
	for want, m := range map[string]*mulliganv1.ToolErrorResponse{
		"unknown action \"tool_action_99": {Action: 99},
		"unknown action":                  ToolAdviceToProto(recovery.Vote{Action: recovery.ActionSwitchModel}),
		"is not from 0 to 60000":          {Action: mulliganv1.ToolAction_TOOL_ACTION_RETRY, DelayMs: 60_001},
		"delay_ms -1":                     {Action: mulliganv1.ToolAction_TOOL_ACTION_RETRY, DelayMs: -1},
		"tell has no words":               {Action: mulliganv1.ToolAction_TOOL_ACTION_TELL, Words: " "},
		"words has 8193 bytes":            {Action: mulliganv1.ToolAction_TOOL_ACTION_TELL, Words: strings.Repeat("x", 8193)},
		"reason is not valid UTF-8":       {Reason: "\xff"},
	} {
		if v, err := ToolAdvice(m); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(v, recovery.Vote{}) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func TestRunEndedComesBack(t *testing.T) {
	e := filled[hooks.RunEnded]()
	got := RunEndedFromProto(throughBytes(t, RunEndedToProto(e), &mulliganv1.RunEndedRequest{}))
	if !reflect.DeepEqual(got, e) {
		t.Errorf("got  %+v\nwant %+v", got, e)
	}
}

func TestVerdict(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	e := hooks.BeforeCall{Model: recovery.Alternative{Model: "a/one"}, Alternatives: []recovery.Alternative{{Model: "b/two"}}, Time: now}
	for _, good := range []recovery.Vote{
		{},
		{Action: recovery.ActionAllow, Reason: "why not"},
		{Action: recovery.ActionRoute, NewModel: "b/two"},
		{Action: recovery.ActionRoute, NewModel: "a/one"},
		{Action: recovery.ActionHold, Until: now.Add(time.Hour)},
		{Action: recovery.ActionHold, Until: now.Add(-time.Hour)},
		{Action: recovery.ActionRefuse, Reason: "names of customers"},
	} {
		if got, err := Verdict(e, VerdictToProto(good)); err != nil || !reflect.DeepEqual(got, good) {
			t.Errorf("%+v became %+v, %v", good, got, err)
		}
	}
	for want, m := range map[string]*mulliganv1.BeforeCallResponse{
		"unknown verdict \"verdict_99":     {Verdict: 99},
		"unknown verdict":                  VerdictToProto(recovery.Vote{Action: recovery.ActionRetry}),
		"\"c/three\", which is not one of": {Verdict: mulliganv1.Verdict_VERDICT_ROUTE, Model: "c/three"},
		"hold names no time":               {Verdict: mulliganv1.Verdict_VERDICT_HOLD},
		"hold names no time within 7":      VerdictToProto(recovery.Vote{Action: recovery.ActionHold, Until: now.Add(8 * 24 * time.Hour)}),
		"reason is not valid UTF-8":        {Reason: "\xff"},
		"model has 201 bytes":              {Model: strings.Repeat("x", 201)},
	} {
		if v, err := Verdict(e, m); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(v, recovery.Vote{}) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func FuzzVerdict(f *testing.F) {
	seed, _ := proto.Marshal(VerdictToProto(recovery.Vote{Action: recovery.ActionHold, Until: time.Unix(1, 0), Reason: "because"}))
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		var m mulliganv1.BeforeCallResponse
		_ = proto.Unmarshal(b, &m) // including what was read before an error
		v, err := Verdict(hooks.BeforeCall{Model: recovery.Alternative{Model: "a/one"}}, &m)
		if err == nil && (!utf8.ValidString(v.Reason+v.NewModel) || v.Action == recovery.ActionRoute && v.NewModel != "a/one") {
			t.Errorf("accepted: %+v", v)
		}
	})
}

func TestReply(t *testing.T) {
	good := recovery.Vote{
		Action: recovery.ActionSwitchModel, NewModel: "a/b", Delay: 7, Reason: "because",
		Actions: []recovery.Button{{Kind: "wiki", Label: "Read", Effect: recovery.EffectClient, URL: "https://" + strings.Repeat("x", 2040)}}, Adjust: recovery.Adjust{Compact: true},
	}
	if got, err := Reply(ReplyToProto(good)); err != nil || !reflect.DeepEqual(got, good) {
		t.Errorf("%+v %v", got, err)
	}
	for want, m := range map[string]*mulliganv1.RunErrorResponse{
		"unknown action":               {Action: 99},
		"unknown action \"action_":     ReplyToProto(recovery.Vote{Action: "dance"}),
		"names no new_model":           {Action: mulliganv1.Action_ACTION_SWITCH_MODEL},
		"negative delay_ms":            {Action: mulliganv1.Action_ACTION_RETRY, DelayMs: -1},
		"is more than":                 {DelayMs: 1 << 62},
		"not valid UTF-8":              {Reason: "\xff"},
		"new_model has 300 bytes":      {NewModel: strings.Repeat("x", 300)},
		"needs a kind":                 {Actions: []*mulliganv1.Button{{}}},
		"url has 2049 bytes":           {Actions: []*mulliganv1.Button{{Kind: "wiki", Effect: "client", Url: "https://" + strings.Repeat("x", 2041)}}},
		"9 actions":                    {Actions: make([]*mulliganv1.Button, 9)},
		"negative max_output":          {Adjust: &mulliganv1.Adjust{MaxOutputTokens: -1}},
		"unknown reasoning_effort":     {Adjust: &mulliganv1.Adjust{ReasoningEffort: "heroic"}},
		"names 65 models":              {Restrict: &mulliganv1.Restrict{Never: slices.Repeat([]string{"a/b"}, recovery.MaxNever+1)}},
		"negative restrict":            {Restrict: &mulliganv1.Restrict{MaxOutputPrice: -1}},
		"\"openai\", which is neither": {Restrict: &mulliganv1.Restrict{Never: []string{"openai"}}},
		"never has 300 bytes":          {Restrict: &mulliganv1.Restrict{Never: []string{strings.Repeat("x/", 150)}}},
	} {
		if _, err := Reply(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func FuzzReply(f *testing.F) {
	seed, _ := proto.Marshal(ReplyToProto(filled[recovery.Vote]()))
	f.Add(seed)
	f.Add([]byte{8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m mulliganv1.RunErrorResponse
		_ = proto.Unmarshal(b, &m) // including what was read before an error
		v, err := Reply(&m)
		if err != nil {
			if !reflect.DeepEqual(v, recovery.Vote{}) {
				t.Errorf("an error, and yet %+v", v)
			}
			return
		}
		if v.Delay < 0 || v.Delay > failure.MaxDelay || !utf8.ValidString(v.Reason+v.NewModel) || len(v.Actions) > maxButtons {
			t.Errorf("accepted: %+v", v)
		}
	})
}

// TestARestrictionComesBack: also one without an opinion, and one that forbids nothing.
func TestARestrictionComesBack(t *testing.T) {
	for _, x := range []*recovery.Restrict{nil, {}, {Never: []string{"a/b", "openai/*"}, MaxOutputPrice: 5_000_000, Local: true}} {
		v, err := Reply(ReplyToProto(recovery.Vote{Restrict: x}))
		if err != nil || !reflect.DeepEqual(v.Restrict, x) || v.Action != recovery.ActionNone {
			t.Errorf("%+v: %+v, %v", x, v, err)
		}
	}
}
