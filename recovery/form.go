package recovery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mulligan-run/mulligan/llm"
)

// Form is how the models of a run are to answer. The zero value leaves it to them.
type Form struct {
	// Temperature is 0 to 2, nil for the model's own. A model that reasons is not told.
	Temperature *float64 `json:"temperature,omitempty"`
	// ToolChoice is what the answers may call. That a tool has to be called is said until one
	// was: the run would never end otherwise.
	ToolChoice llm.ToolChoice `json:"toolChoice,omitzero"`
	// Format is the JSON that the run's answer has to be, nil for any text. One that is
	// something else is a malformed_response.
	Format *llm.Format `json:"format,omitempty"`
}

// Check says why no run of these tools can have the form.
func (f Form) Check(tools []ToolDecl) error {
	named := func(t ToolDecl) bool { return t.Name == f.ToolChoice.Name }
	switch t := f.Temperature; {
	case t != nil && !(*t >= 0 && *t <= 2):
		return fmt.Errorf("a temperature is 0 to 2, not %v", *t)
	case f.ToolChoice.Mode != llm.ToolAuto && f.ToolChoice.Mode != llm.ToolNone && f.ToolChoice.Mode != llm.ToolRequired:
		return fmt.Errorf("there is no tool choice %q", f.ToolChoice.Mode)
	case f.ToolChoice.Mode == llm.ToolRequired && len(tools) == 0:
		return errors.New("a tool has to be called, and there is none")
	case f.ToolChoice.Name != "" && !slices.ContainsFunc(tools, named):
		return fmt.Errorf("the tool %q has to be called, and there is none of that name", f.ToolChoice.Name)
	case f.Format != nil && len(f.Format.Schema) == 0:
		return errors.New("the format of the answer has no schema")
	}
	return nil
}

// Shape makes req ask for the form.
func (r *Run) Shape(req *llm.Request) {
	if r.Form == nil {
		return
	}
	req.Temperature, req.Format, req.ToolChoice = r.Form.Temperature, r.Form.Format, r.Form.ToolChoice
	if req.ToolChoice.Mode == llm.ToolRequired && r.Rounds > 0 {
		req.ToolChoice = llm.ToolChoice{}
	}
}
