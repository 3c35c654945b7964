package rules

import (
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// scope is where CEL looks up the facts of one decision; each is converted once.
type scope struct {
	facts  reflect.Value
	values []ref.Val
	named  map[string]*expression // expressions defined in the file
	known  map[string]ref.Val     // their values so far
}

// factFields are the index of every fact's field in Facts.
var factFields = func() map[string]int {
	fields := map[string]int{}
	for i, name := range fieldsOf(reflect.TypeFor[Facts]()) {
		fields[name] = i
	}
	return fields
}()

func newScope(f *Facts) *scope {
	return &scope{facts: reflect.ValueOf(f).Elem(), values: make([]ref.Val, len(factFields))}
}

// scope is the scope of one decision by these rules.
func (rs *Rules) scope(f *Facts) *scope {
	s := newScope(f)
	s.named, s.known = rs.defined, map[string]ref.Val{}
	return s
}

// ResolveName returns the fact of that name.
func (s *scope) ResolveName(name string) (any, bool) {
	i, ok := factFields[name]
	if !ok {
		return s.defined(name)
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

// defined returns the value of a named expression. If it cannot be evaluated, that is an error in the
// expression that uses it.
func (s *scope) defined(name string) (any, bool) {
	x, ok := s.named[name]
	if !ok {
		return nil, false
	}
	if s.known[name] == nil {
		v, err := x.value(s)
		if err != nil {
			v = types.NewErr("%s: %v", name, err)
		}
		s.known[name] = v
	}
	return s.known[name], true
}

// Parent ends the search for names.
func (s *scope) Parent() cel.Activation { return nil }
