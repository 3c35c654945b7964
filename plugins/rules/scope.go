package rules

import (
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
)

// scope is where CEL looks up the facts of one decision; each is converted once.
type scope struct {
	facts  reflect.Value
	values []ref.Val
}

// factFields has the place of every fact in Facts.
var factFields = func() map[string]int {
	fields := map[string]int{}
	for i, name := range fieldsOf(reflect.TypeFor[Facts]()) {
		fields[name] = i
	}
	return fields
}()

func newScope(f *Facts) *scope {
	return &scope{reflect.ValueOf(f).Elem(), make([]ref.Val, len(factFields))}
}

// ResolveName gives the fact of that name.
func (s *scope) ResolveName(name string) (any, bool) {
	i, ok := factFields[name]
	if !ok {
		return nil, false
	}
	if s.values[i] == nil {
		env, err := environment()
		if err != nil {
			return nil, false
		}
		s.values[i] = env.CELTypeAdapter().NativeToValue(s.facts.Field(i).Interface())
	}
	return s.values[i], true
}

// Parent ends the search for names.
func (s *scope) Parent() cel.Activation { return nil }
