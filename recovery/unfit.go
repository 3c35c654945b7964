package recovery

import (
	"fmt"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// Unfit is a model that does not accept something in the conversation.
type Unfit struct {
	Model string `json:"model"`
	Lacks string `json:"lacks"` // why, as llm.Capabilities.Lacks says it: "takes no images"
}

// namedUnfit is how many unfit models a failure's message names, at most.
const namedUnfit = 2

// TellUnfit adds to the failure's message which models could not take over, and why.
func (f *Failed) TellUnfit() {
	for i, u := range f.Unfit {
		if i == namedUnfit {
			return
		}
		told := fmt.Sprintf(" %s cannot take over: it %s.", words.Clip(u.Model, MaxText/5), u.Lacks)
		f.Failure.Message = words.Clip(f.Failure.Message, failure.MaxMessage-len(f.Failure.Title)-len(told)) + told
	}
}

// lacks says what in the conversation the model does not accept; "" if it accepts everything.
func (o *OpenFailure) lacks(model string) string {
	for _, u := range o.Unfit {
		if u.Model == model {
			return u.Lacks
		}
	}
	return ""
}
