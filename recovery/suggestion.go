package recovery

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// The values of Button.Effect say who carries an action out.
const (
	EffectRunner = "runner" // the client posts the answer, and the runner acts
	EffectClient = "client" // the client acts and posts nothing
)

// Button is one action that a person may choose. A client shows a kind that it does not know by its
// label.
type Button struct {
	ID      string `json:"id"` // within its suggestion: a1, a2, …
	Kind    string `json:"kind"`
	Label   string `json:"label"`
	Effect  string `json:"effect"` // runner or client
	Model   string `json:"model,omitempty"`
	Primary bool   `json:"primary,omitempty"`
	// URL is where a plugin's own button leads: http or https, at most 2 KiB. The client opens it.
	URL string `json:"url,omitempty"`
	// Plugin is the plugin that is asked again when this button, which is its own and has no URL,
	// is pressed.
	Plugin string `json:"plugin,omitempty" proto:"-"`
}

// The kinds of actions (spec §6).
const (
	ButtonRetry       = "retry"
	ButtonSwitchModel = "switch_model"
	ButtonLarger      = "switch_model_larger"
	ButtonCompact     = "compact"
	ButtonResumeAt    = "resume_at"
	ButtonWaitLonger  = "wait_longer"
	ButtonExtend      = "extend"
	ButtonTellAgent   = "tell_agent"
	ButtonRerunTool   = "rerun_tool"
	ButtonRunTool     = "run_tool"    // approves of a tool call
	ButtonRefuseTool  = "refuse_tool" // refuses a tool call
	ButtonStop        = "stop"

	ButtonEdit        = "edit"
	ButtonFixKey      = "fix_key"
	ButtonAddCredit   = "add_credit"
	ButtonChooseModel = "choose_model"
	ButtonCopyDetails = "copy_details"
	ButtonOpen        = "open" // opens the button's URL

	ButtonRetryNow   = "retry_now"
	ButtonCancelWait = "cancel_wait"
)

// Suggestion is a decision offered to a person: meta.recoverySuggestion (spec §6).
// Its first three fields are the original contract.
type Suggestion struct {
	SuggestedAction Action `json:"suggestedAction"`
	NewModel        string `json:"newModel,omitempty"`
	Attempt         int    `json:"attempt"` // from 0, within one model call

	ID        string          `json:"id"`
	ExpiresAt time.Time       `json:"expiresAt"`
	Title     string          `json:"title"`
	Message   string          `json:"message"`
	Error     failure.Failure `json:"error"`
	RetryAt   time.Time       `json:"retryAt,omitzero"`
	ResetsAt  time.Time       `json:"resetsAt,omitzero"`
	BlockedBy string          `json:"blockedBy,omitempty"`
	Limit     string          `json:"limit,omitempty"`     // what BlockedBy stands for, in words: "all retries are used up"
	DecidedBy *Voter          `json:"decidedBy,omitempty"` // nil = nobody had an opinion, and something safe is offered
	Why       string          `json:"why,omitempty"`       // who suggests the first action, and for what reason, in one line
	Actions   []Button        `json:"actions"`             // the suggested one first, Stop last; none = the run is over
	Tried     []Tried         `json:"tried"`
}

// Tried is one failed attempt of the model call that a suggestion is about.
type Tried struct {
	Attempt int            `json:"attempt"`
	Model   string         `json:"model"`
	Code    failure.Code   `json:"code"`
	At      time.Time      `json:"at"`
	Millis  failure.Millis `json:"ms"`
}

// suggestionState is the state of a run's suggestion.
type suggestionState string

const (
	suggestionNone       suggestionState = ""           // there was none, or the last one was answered
	suggestionOpen       suggestionState = "open"       // a person may answer it, unless its time is over but no event says so yet
	suggestionOver       suggestionState = "over"       // its time is over
	suggestionSuperseded suggestionState = "superseded" // the next message replaced it, and the run has ended
)

// Button finds an action by its id, or by its kind if only one has that kind.
func (s *Suggestion) Button(id string) (Button, bool) { return findButton(s.Actions, id) }

func findButton(buttons []Button, id string) (Button, bool) {
	for _, b := range buttons {
		if b.ID == id {
			return b, true
		}
	}
	for _, b := range buttons {
		if b.Kind == id {
			return b, true
		}
	}
	return Button{}, false
}
