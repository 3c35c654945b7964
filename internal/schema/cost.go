package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds on one validation, in units of about ten nanoseconds.
const (
	maxCost   = 20_000_000
	step      = 200 // for checking one value against one schema
	maxNested = 200 // schemas being checked at a time
)

var (
	errTooMuch = errors.New("checking it against the JSON Schema would take too many steps: the schema combines too much")
	errLoop    = errors.New("the JSON Schema refers to itself without end")
	errDynamic = errors.New("the JSON Schema uses $dynamicRef or $recursiveRef, which are not supported: use $ref")
	errNested  = fmt.Errorf("the JSON Schema is more than %d levels deep for this value", maxNested)
)

// meeting is one schema and one value to be checked against it.
type meeting struct {
	schema *jsonschema.Schema
	value  *node
}

// price is the highest cost of a meeting, including everything below it. It is zero while the
// meeting is being counted.
type price struct {
	cost   int
	height int
}

// counter adds up the cost of a validation before it begins. A meeting is counted once, however
// often it takes place, so that counting is never expensive itself.
type counter struct {
	ctx   context.Context
	known map[meeting]price
}

// affordable says why a value must not be checked against a schema.
func affordable(ctx context.Context, schema *jsonschema.Schema, value *node) error {
	c := counter{ctx: ctx, known: map[meeting]price{}}
	_, err := c.count(meeting{schema, value}, 0)
	return err
}

func (c *counter) count(m meeting, depth int) (price, error) {
	if m.schema == nil || m.schema.Bool != nil {
		return price{cost: step, height: 1}, nil
	}
	known, met := c.known[m]
	switch {
	case met && known.height == 0:
		return price{}, errLoop
	case met && depth+known.height > maxNested, depth > maxNested:
		return price{}, errNested
	case met:
		return known, nil
	case m.schema.DynamicRef != nil || m.schema.RecursiveRef != nil:
		return price{}, errDynamic
	}
	if err := c.ctx.Err(); err != nil {
		return price{}, err
	}
	c.known[m] = price{}
	sum := price{cost: step + own(m)}
	if sum.cost > maxCost {
		return price{}, errTooMuch
	}
	for next := range meetings(m) {
		below, err := c.count(next, depth+1)
		if err != nil {
			return price{}, err
		}
		sum.cost += below.cost
		sum.height = max(sum.height, below.height)
		if sum.cost > maxCost || len(c.known) > maxCost/step {
			return price{}, errTooMuch
		}
	}
	sum.height++
	c.known[m] = sum
	return sum, nil
}

// own is what a meeting costs by itself.
func own(m meeting) int {
	s, v := m.schema, m.value
	cost := len(v.fields) + len(v.items) + len(s.Properties) + len(s.Required) + len(s.DependentRequired)
	if s.Enum != nil {
		for _, one := range s.Enum.Values {
			cost += 5 * size(one)
		}
	}
	if s.Const != nil {
		cost += 5 * size(*s.Const)
	}
	for _, dependency := range s.Dependencies {
		if names, ok := dependency.([]string); ok {
			cost += len(names)
		}
	}
	for expression := range s.PatternProperties {
		for name := range v.fields {
			cost += match(expression, name)
		}
	}
	if text, ok := v.value.(string); ok {
		cost += len(text)
		if s.Pattern != nil {
			cost += match(s.Pattern, text)
		}
		if s.Format != nil && s.Format.Name == "regex" {
			cost += 1000 * len(text) // it is compiled
		}
	}
	if n := len(v.items); s.UniqueItems && n > 0 {
		cost += 5 * size(v.value) * min(n, 20)
		cost += n * n // if the library's hashes are made to collide
	}
	return cost
}

// match is what looking for an expression in a text costs.
func match(expression jsonschema.Regexp, text string) int {
	p, ok := expression.(pattern)
	if !ok {
		return len(text) // of the drafts' own schemas, and short
	}
	return p.program * (1 + len(text))
}

// size is how many values a value contains, counting strings by their length.
func size(value any) int {
	n := 1
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			n += len(name)/16 + size(field)
		}
	case []any:
		for _, item := range value {
			n += size(item)
		}
	case string:
		n += len(value) / 16
	}
	return n
}
