package protoconv

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mulligan-run/mulligan/failure"
)

var timeType = reflect.TypeFor[time.Time]()

// pair is a field of a domain struct and its counterpart of the same JSON name.
type pair struct {
	index []int
	field protoreflect.FieldDescriptor
	rest  protoreflect.FieldDescriptor // of an enum: where names without a number go
}

var pairings sync.Map // reflect.Type → []pair; a type has one message

// pairs matches the fields of t with those of the message. It panics where the
// domain has a field that the message lacks; the tests visit every type.
func pairs(t reflect.Type, message protoreflect.MessageDescriptor) []pair {
	if known, ok := pairings.Load(t); ok {
		found, _ := known.([]pair)
		return found
	}
	var found []pair
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("proto") == "-" { // the runner's own, which never travels
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := message.Fields().ByJSONName(name)
		if field == nil {
			panic(fmt.Sprintf("protoconv: %s.%s (%q) has no counterpart in %s", t, f.Name, name, message.FullName()))
		}
		p := pair{index: f.Index, field: field}
		if field.Kind() == protoreflect.EnumKind {
			p.rest = message.Fields().ByJSONName(name + "Name")
		}
		found = append(found, p)
	}
	pairings.Store(t, found)
	return found
}

// encode copies the domain struct from into the message to.
func encode(from reflect.Value, to protoreflect.Message) {
	for _, p := range pairs(from.Type(), to.Descriptor()) {
		value := from.FieldByIndex(p.index)
		switch {
		case value.IsZero():
		case p.field.IsList():
			list := to.Mutable(p.field).List()
			for i := range value.Len() {
				list.Append(encodeOne(value.Index(i), p.field, list.NewElement))
			}
		case p.field.Kind() == protoreflect.EnumKind:
			number, rest := enumNumber(p.field.Enum(), value.String())
			to.Set(p.field, protoreflect.ValueOfEnum(number))
			if rest != "" {
				to.Set(p.rest, protoreflect.ValueOfString(valid(rest)))
			}
		default:
			to.Set(p.field, encodeOne(value, p.field, func() protoreflect.Value { return to.NewField(p.field) }))
		}
	}
}

func encodeOne(value reflect.Value, field protoreflect.FieldDescriptor, fresh func() protoreflect.Value) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(valid(value.String()))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(value.Bool())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(min(max(value.Int(), math.MinInt32), math.MaxInt32)))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(value.Int())
	case protoreflect.MessageKind:
		if value.Type() == timeType {
			at, _ := value.Interface().(time.Time)
			return protoreflect.ValueOfMessage(timestamppb.New(at).ProtoReflect())
		}
		message := fresh()
		encode(reflect.Indirect(value), message.Message())
		return message
	}
	panic(fmt.Sprintf("protoconv: no rule for %s", field.FullName()))
}

// decode copies the message from into the domain struct to.
func decode(from protoreflect.Message, to reflect.Value) {
	for _, p := range pairs(to.Type(), from.Descriptor()) {
		target := to.FieldByIndex(p.index)
		switch {
		case p.field.Kind() == protoreflect.EnumKind:
			target.SetString(enumName(p.field.Enum(), from.Get(p.field).Enum(), from.Get(p.rest).String()))
		case !from.Has(p.field):
		case p.field.IsList():
			list := from.Get(p.field).List()
			target.Set(reflect.MakeSlice(target.Type(), list.Len(), list.Len()))
			for i := range list.Len() {
				decodeOne(list.Get(i), p.field, target.Index(i))
			}
		default:
			decodeOne(from.Get(p.field), p.field, target)
		}
	}
}

func decodeOne(value protoreflect.Value, field protoreflect.FieldDescriptor, to reflect.Value) {
	switch field.Kind() {
	case protoreflect.StringKind:
		to.SetString(value.String())
	case protoreflect.BoolKind:
		to.SetBool(value.Bool())
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		to.SetInt(value.Int())
	case protoreflect.MessageKind:
		decodeMessage(value.Message(), to)
	default:
		panic(fmt.Sprintf("protoconv: no rule for %s", field.FullName()))
	}
}

func decodeMessage(from protoreflect.Message, to reflect.Value) {
	if to.Type() == timeType {
		if at, ok := from.Interface().(*timestamppb.Timestamp); ok {
			to.Set(reflect.ValueOf(at.AsTime()))
		}
		return
	}
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	decode(from, to)
}

// valid replaces invalid UTF-8, which protobuf refuses.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// validEach is valid for each string.
func validEach[S ~string](list []S) []string {
	var out []string
	for _, s := range list {
		out = append(out, valid(string(s)))
	}
	return out
}

// kinds are the kinds of those names.
func kinds(names []string) []failure.Kind {
	var list []failure.Kind
	for _, name := range names {
		list = append(list, failure.Kind(name))
	}
	return list
}
