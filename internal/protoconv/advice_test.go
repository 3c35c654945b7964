package protoconv

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAdviceIsWhole: every field of an answer is carried on the wire.
func TestAdviceIsWhole(t *testing.T) {
	decision, suggestion := filled[recovery.Decision](), filled[recovery.Suggestion]()
	decision.Action, suggestion.SuggestedAction = recovery.ActionSwitchModel, recovery.ActionRetry
	vote := filled[recovery.Vote]()
	vote.Action = recovery.ActionFail
	for _, m := range []proto.Message{DecisionToProto(decision), SuggestionToProto(&suggestion), VotesToProto([]recovery.Vote{vote})[0]} {
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			if field := fields.Get(i); !m.ProtoReflect().Has(field) {
				t.Errorf("%s is never set", field.FullName())
			}
		}
	}
	if odd := VotesToProto([]recovery.Vote{{Plugin: "p", Action: "dance"}}); odd[0].GetAction() != 0 {
		t.Errorf("%v", odd)
	}
	if SuggestionToProto(nil) != nil {
		t.Error("no suggestion is one")
	}
}

// TestNamesOfNumbers: numbers that are not set, or not known here, have no name.
func TestNamesOfNumbers(t *testing.T) {
	if k := KindFromProto(mulliganv1.Kind_KIND_OVERLOADED); k != "overloaded" {
		t.Errorf("%q", k)
	}
	if p := PhaseFromProto(mulliganv1.Phase_PHASE_MID_STREAM); p != "mid_stream" {
		t.Errorf("%q", p)
	}
	if k, p := KindFromProto(0), PhaseFromProto(0); k != "" || p != "" {
		t.Errorf("%q, %q", k, p)
	}
	if k := KindFromProto(mulliganv1.Kind(protoreflect.EnumNumber(999))); k == "overloaded" {
		t.Errorf("%q", k)
	}
}
