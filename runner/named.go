package runner

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// named are the models that were added one by one.
type named map[string]llm.Model

// beside are models that were added to others.
type beside struct {
	own named
	Models
}

// with are all models and one more.
func with(all Models, name string, model llm.Model) Models {
	switch all := all.(type) {
	case nil:
		return named{name: model}
	case named:
		all[name] = model
		return all
	case beside:
		all.own[name] = model
		return all
	}
	return beside{named{name: model}, all}
}

// Model finds a model.
func (n named) Model(name string) (llm.Model, error) {
	switch m, ok := n[name]; {
	case m != nil:
		return m, nil
	case ok:
		return nil, fmt.Errorf("model %q was added as nil", name)
	}
	return nil, fmt.Errorf("model %q is not known; there are: %s", name, cmp.Or(strings.Join(sortedKeys(n), ", "), "none"))
}

// Has reports whether there is such a model.
func (n named) Has(name string) bool { return n[name] != nil }

// Capabilities is what a model says about itself.
func (n named) Capabilities(name string) llm.Capabilities {
	if m, ok := n[name].(llm.Capable); ok {
		return m.Capabilities()
	}
	return llm.Capabilities{}
}

// Model finds a model.
func (b beside) Model(name string) (llm.Model, error) {
	if _, ok := b.own[name]; ok {
		return b.own.Model(name)
	}
	return b.Models.Model(name)
}

// Has reports whether there is such a model, which can be called.
func (b beside) Has(name string) bool { return b.own.Has(name) || b.Models.Has(name) }

// Capabilities is what a model says about itself, or what is known about it.
func (b beside) Capabilities(name string) llm.Capabilities {
	if b.own.Has(name) {
		return b.own.Capabilities(name)
	}
	return b.Models.Capabilities(name)
}

// Redact removes the secrets that the others know.
func (b beside) Redact(text string) string {
	if clean, ok := b.Models.(Redactor); ok {
		return clean.Redact(text)
	}
	return text
}
