package llm

import (
	"fmt"
	"slices"
)

// Capabilities is what is known of what a model takes. The zero value is a model of which
// nothing is known, and everything may be tried.
type Capabilities struct {
	ContextTokens int64 // size of its context window; 0 = not known
	NoImages      bool  // it takes no pictures
	NoTools       bool  // it calls no tools
	NoSchema      bool  // it does not keep to a JSON schema
	Prefill       bool  // it goes on with a last message that is its own; false = not known to
	Local         bool  // it is served on this machine
}

// Capable is a Model that says what it takes; of any other one nothing is known, unless
// whoever has it says so.
type Capable interface {
	Model
	Capabilities() Capabilities
}

// Needs is what a request uses that not every model takes.
type Needs struct {
	Images bool
	Tools  bool
	Schema bool  // the answer is to keep to a JSON schema
	Tokens int64 // of the input, about
}

// imageTokens is about what a picture counts, however many bytes it has.
const imageTokens = 1600

// Needs looks through the whole conversation.
func (r Request) Needs() Needs {
	n := Needs{Tools: len(r.Tools) > 0, Schema: r.Format != nil && len(r.Format.Schema) > 0}
	text := len(r.System)
	for _, t := range r.Tools {
		text += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			text += len(p.Text)
			switch {
			case p.Image != nil:
				n.Images = true
				n.Tokens += imageTokens
			case p.Call != nil:
				n.Tools = true
				text += len(p.Call.Name) + len(p.Call.Args)
			case p.Result != nil:
				text += len(p.Result.Text)
			}
		}
	}
	n.Tokens += Tokens(text)
	return n
}

// Lacks says for people why a model of which c is known cannot take what n needs, as the rest
// of a sentence about it: "takes no images"; "" where it may.
func (c Capabilities) Lacks(n Needs) string {
	switch {
	case n.Images && c.NoImages:
		return "takes no images"
	case n.Tools && c.NoTools:
		return "calls no tools"
	case n.Schema && c.NoSchema:
		return "does not keep to a JSON schema"
	case c.ContextTokens > 0 && n.Tokens > c.ContextTokens:
		return fmt.Sprintf("has room for %s tokens, and the conversation has about %s", grouped(c.ContextTokens), grouped(n.Tokens))
	}
	return ""
}

// grouped writes a number as people read it: 128,000.
func grouped(n int64) string {
	digits := []byte(fmt.Sprint(n))
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = slices.Insert(digits, at, ',')
	}
	return string(digits)
}
