package faultlab

import (
	"errors"
	"fmt"
	"strings"
)

const (
	maxChosen   = 256     // models that are remembered
	maxDirected = 4 << 10 // bytes of the name of a model that chooses
)

// chosen are the scripts of models that choose by their names, so that a client can ask for a fault
// without anybody telling the lab first:
//
//	row:A23                     a row of the fault catalogue
//	kind:overloaded             the rows of a kind, one after the other
//	script:429:2s, answer:ok    a script in its text form
//
// After its last step such a script begins again. If there are more than maxChosen models, the
// oldest are forgotten, and also begin again.
type chosen struct {
	scripts map[string]*script
	order   []string
}

// directed gives the script that a model's name asks for.
func directed(model string) (script string, ok bool) {
	if strings.HasPrefix(model, "row:") || strings.HasPrefix(model, "kind:") {
		return model, true
	}
	return strings.CutPrefix(model, "script:")
}

// by gives the script that a model chooses; nil if it does not choose.
func (c *chosen) by(model string) (*script, error) {
	text, ok := directed(model)
	if !ok {
		return nil, nil //nolint:nilnil // most models choose nothing
	}
	if s, known := c.scripts[model]; known {
		return s, nil
	}
	if len(model) > maxDirected {
		return nil, fmt.Errorf("model: longer than %d bytes", maxDirected)
	}
	steps, err := Parse(text)
	if err == nil && len(steps) == 0 {
		err = errors.New("script: no step")
	}
	if err != nil {
		return nil, err
	}
	if len(c.order) >= maxChosen {
		delete(c.scripts, c.order[0])
		c.order = c.order[1:]
	}
	if c.scripts == nil {
		c.scripts = map[string]*script{}
	}
	c.order = append(c.order, model)
	c.scripts[model] = &script{steps: steps, again: true}
	return c.scripts[model], nil
}
