package llm

import (
	"fmt"
	"slices"
)

// Capabilities is what is known about what a model accepts. With the zero value nothing is known,
// and everything may be tried.
type Capabilities struct {
	ContextTokens int64 // size of its context window; 0 = not known
	NoImages      bool  // it accepts no images
	NoTools       bool  // it cannot call tools
	NoSchema      bool  // it cannot follow a JSON schema
	Prefill       bool  // it continues a last message of its own; false = not known
	Local         bool  // it is served on this machine
}

// Capable is a Model that says what it accepts. Of any other model nothing is known, unless its
// configuration says so.
type Capable interface {
	Model
	Capabilities() Capabilities
}

// Needs is what a request uses that some models do not accept.
type Needs struct {
	Images bool
	Tools  bool
	Schema bool  // the answer has to follow a JSON schema
	Tokens int64 // of the input, approximately
}

// imageTokens is about how many tokens an image takes, whatever its size in bytes.
const imageTokens = 1600

// Needs reads the whole conversation.
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

// Lacks says for people why a model cannot answer what n needs, as the rest of a sentence about the
// model: "takes no images"; "" if it may be able to.
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

// grouped writes a number with separators: 128,000.
func grouped(n int64) string {
	digits := []byte(fmt.Sprint(n))
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = slices.Insert(digits, at, ',')
	}
	return string(digits)
}
