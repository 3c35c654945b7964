package protoconv

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/mulligan-run/mulligan/failure"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// DecisionToProto converts d.
func DecisionToProto(d recovery.Decision) *mulliganv1.Decision {
	return toProto(d, &mulliganv1.Decision{})
}

// VotesToProto converts plugins' votes. An unknown action becomes none, as it did for the
// decision.
func VotesToProto(votes []recovery.Vote) []*mulliganv1.Vote {
	votes = slices.Clone(votes)
	for i := range votes {
		if _, rest := enumNumber(action(), string(votes[i].Action)); rest != "" {
			votes[i].Action = recovery.ActionNone
		}
	}
	return eachToProto[recovery.Vote, mulliganv1.Vote](votes)
}

// SuggestionToProto converts s; nil is nil.
func SuggestionToProto(s *recovery.Suggestion) *mulliganv1.RecoverySuggestion {
	if s == nil {
		return nil
	}
	return toProto(*s, &mulliganv1.RecoverySuggestion{})
}

// KindFromProto is the kind of that number, "" for none.
func KindFromProto(k mulliganv1.Kind) failure.Kind {
	return failure.Kind(enumName(k.Descriptor(), protoreflect.EnumNumber(k), ""))
}

// PhaseFromProto is the phase of that number, "" for none.
func PhaseFromProto(p mulliganv1.Phase) failure.Phase {
	return failure.Phase(enumName(p.Descriptor(), protoreflect.EnumNumber(p), ""))
}
