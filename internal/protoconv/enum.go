package protoconv

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// enumNumber finds the number of a domain name. A name without one is returned in
// rest, to be sent beside the number 0.
func enumNumber(enum protoreflect.EnumDescriptor, name string) (number protoreflect.EnumNumber, rest string) {
	if name == "" {
		return 0, ""
	}
	prefix := enumPrefix(enum)
	value := enum.Values().ByName(protoreflect.Name(prefix + strings.ToUpper(name)))
	if value != nil && value.Number() != 0 && strings.ToLower(name) == name {
		return value.Number(), ""
	}
	if digits, ok := strings.CutPrefix(name, strings.ToLower(prefix)); ok {
		n, err := strconv.ParseInt(digits, 10, 32)
		known := enum.Values().ByNumber(protoreflect.EnumNumber(n)) != nil
		if err == nil && !known && strconv.FormatInt(n, 10) == digits {
			return protoreflect.EnumNumber(n), ""
		}
	}
	return 0, name
}

// enumName is the inverse of enumNumber.
func enumName(enum protoreflect.EnumDescriptor, number protoreflect.EnumNumber, rest string) string {
	if number == 0 {
		return rest
	}
	prefix := enumPrefix(enum)
	value := enum.Values().ByNumber(number)
	if value == nil {
		return strings.ToLower(prefix) + strconv.Itoa(int(number))
	}
	return strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix))
}

// enumPrefix is the common prefix of an enum's values, by its zero value.
func enumPrefix(enum protoreflect.EnumDescriptor) string {
	return strings.TrimSuffix(string(enum.Values().ByNumber(0).Name()), "UNSPECIFIED")
}
