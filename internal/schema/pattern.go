package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds on regular expressions. Matching takes the length of the text times the size of
// the program, and a{1000} is a thousand times the size of a.
const (
	maxPattern  = 4096   // bytes of one
	maxProgram  = 10_000 // instructions of one, estimated
	maxPrograms = 50_000 // in a whole schema; each is compiled twice
)

// patternBudget compiles regular expressions while instructions are left.
type patternBudget struct {
	left int
}

// pattern is a regular expression and its price.
type pattern struct {
	*regexp.Regexp
	program int // instructions, about
}

func (b *patternBudget) compile(text string) (jsonschema.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the regular expression has %d bytes, at most %d", len(text), maxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size := program(parsed)
	b.left -= size
	if size > maxProgram || b.left < 0 {
		return nil, fmt.Errorf("the regular expression is too large: what it repeats comes to %d steps, at most %d, and %d in one schema", size, maxProgram, maxPrograms)
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return pattern{compiled, size}, nil
}

// program is how large an expression gets when its repetitions are written out.
func program(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += program(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(1, re.Min, re.Max)
	}
	return min(size, 1<<40)
}
