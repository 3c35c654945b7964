package recovery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mulligan-run/mulligan/llm"
)

// Form is what the answers of a run have to look like. The zero value demands nothing.
type Form struct {
	// Temperature is 0 to 2, nil for the model's own. It is not sent to a model that reasons.
	Temperature *float64 `json:"temperature,omitempty"`
	// ToolChoice says which tools the answers may call. A call is forced only until one has been
	// made: otherwise the run would never end.
	ToolChoice llm.ToolChoice `json:"toolChoice,omitzero"`
	// Format is the JSON that the run's answer has to be, nil for any text. An answer in another
	// form fails as malformed_response.
	Format *llm.Format `json:"format,omitempty"`
}

// Check says why a run with these tools cannot have the form.
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

// Shape adds the form to a request.
func (r *Run) Shape(req *llm.Request) {
	if r.Form == nil {
		return
	}
	req.Temperature, req.Format, req.ToolChoice = r.Form.Temperature, r.Form.Format, r.Form.ToolChoice
	if req.ToolChoice.Mode == llm.ToolRequired && r.Rounds > 0 {
		req.ToolChoice = llm.ToolChoice{}
	}
}
