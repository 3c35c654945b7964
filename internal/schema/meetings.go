package schema

import (
	"iter"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// meetings are all that may directly follow from one: the same value with the schemas that this
// one combines, and the values in it with their schemas.
func meetings(m meeting) iter.Seq[meeting] {
	return func(yield func(meeting) bool) {
		for s := range combined(m.schema) {
			if !yield(meeting{s, m.value}) {
				return
			}
		}
		for name, field := range m.value.fields {
			for s := range ofField(m.schema, name) {
				if !yield(meeting{s, field}) {
					return
				}
			}
			if names := m.schema.PropertyNames; names != nil && !yield(meeting{names, &node{value: name}}) {
				return
			}
		}
		for i, item := range m.value.items {
			for s := range ofItem(m.schema, i) {
				if !yield(meeting{s, item}) {
					return
				}
			}
		}
	}
}

// all yields the schemas that are not nil.
func all(yield func(*jsonschema.Schema) bool, schemas ...*jsonschema.Schema) bool {
	for _, s := range schemas {
		if s != nil && !yield(s) {
			return false
		}
	}
	return true
}

// combined are the schemas that the same value may be held to.
func combined(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		if !all(yield, s.Ref, s.Not, s.If, s.Then, s.Else, s.ContentSchema) ||
			!all(yield, s.AllOf...) || !all(yield, s.AnyOf...) || !all(yield, s.OneOf...) {
			return
		}
		for _, one := range s.DependentSchemas {
			if !yield(one) {
				return
			}
		}
		for _, one := range s.Dependencies {
			if one, ok := one.(*jsonschema.Schema); ok && !yield(one) {
				return
			}
		}
	}
}

// ofField are the schemas that the field of an object may be held to.
func ofField(s *jsonschema.Schema, name string) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		for expression, one := range s.PatternProperties {
			if expression.MatchString(name) && !yield(one) {
				return
			}
		}
		additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
		all(yield, s.Properties[name], additional, s.UnevaluatedProperties)
	}
}

// ofItem are the schemas that an item of an array may be held to.
func ofItem(s *jsonschema.Schema, at int) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		additional, _ := s.AdditionalItems.(*jsonschema.Schema)
		if !all(yield, s.Items2020, s.Contains, s.UnevaluatedItems, additional) {
			return
		}
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			all(yield, items)
		case []*jsonschema.Schema:
			if at < len(items) {
				all(yield, items[at])
			}
		}
		if at < len(s.PrefixItems) {
			all(yield, s.PrefixItems[at])
		}
	}
}
