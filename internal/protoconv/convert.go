package protoconv

import (
	"reflect"

	"google.golang.org/protobuf/proto"

	"github.com/mulligan-run/mulligan/failure"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// FailureToProto converts f without its cause.
func FailureToProto(f failure.Failure) *mulliganv1.Failure {
	return toProto(f, &mulliganv1.Failure{})
}

// FailureFromProto converts m; nil is the zero Failure.
func FailureFromProto(m *mulliganv1.Failure) failure.Failure {
	return fromProto[failure.Failure](m)
}

func toProto[M proto.Message](from any, to M) M {
	encode(reflect.ValueOf(from), to.ProtoReflect())
	return to
}

func fromProto[T any](m proto.Message) T {
	var to T
	if r := m.ProtoReflect(); r.IsValid() {
		decode(r, reflect.ValueOf(&to).Elem())
	}
	return to
}

func eachToProto[T any, M any, P interface {
	*M
	proto.Message
}](from []T) []P {
	var to []P
	for _, one := range from {
		to = append(to, toProto(one, P(new(M))))
	}
	return to
}

func eachFromProto[T any, P proto.Message](from []P) []T {
	var to []T
	for _, one := range from {
		to = append(to, fromProto[T](one))
	}
	return to
}
