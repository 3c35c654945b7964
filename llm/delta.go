package llm

// DeltaKind says what a Delta carries.
type DeltaKind uint8

const (
	// DeltaPing: bytes arrived that mean nothing (a ping, a comment). It keeps
	// the connection's clock going, never the progress clock.
	DeltaPing DeltaKind = iota
	// DeltaStart: the provider accepted the call and its answer begins.
	DeltaStart
	// DeltaText: Text continues the answer.
	DeltaText
	// DeltaThinking: Text continues the reasoning; Signature or Redacted may end it.
	DeltaThinking
	// DeltaCall: a tool call begins; Index, CallID and Name are set, Signature may be.
	DeltaCall
	// DeltaArgs: Text continues the JSON arguments of the call at Index.
	DeltaArgs
	// DeltaUsage: Usage replaces what was known of the call's usage.
	DeltaUsage
	// DeltaStop: the provider's terminal event; Stop is set. Nothing follows.
	DeltaStop
	// DeltaRepaired: Repairs is what was changed in the transcript before it was
	// sent. It comes before everything else, and nothing has been heard by then; or, of
	// RepairTemplate, right before DeltaStop.
	DeltaRepaired
	// DeltaFrame: Frame is what came, before the deltas that it means, if it means any. There
	// are such only where the Request has a Native of the model's wire.
	DeltaFrame
)

// StopReason says why a model ended its answer.
type StopReason string

const (
	// StopEnd: the answer is complete.
	StopEnd StopReason = "end"
	// StopToolUse: the model waits for the results of its tool calls.
	StopToolUse StopReason = "tool_use"
	// StopLength: the output limit cut the answer.
	StopLength StopReason = "length"
	// StopFiltered: the provider's filter ended the answer, or the model refused.
	StopFiltered StopReason = "filtered"
)

// Delta is one thing heard from a streaming call.
type Delta struct {
	Kind      DeltaKind
	Index     int // of the tool call, for DeltaCall and DeltaArgs; any numbers, one per call
	Text      string
	CallID    string
	Name      string
	Signature string
	Redacted  string
	RequestID string // with DeltaStart, where the provider names it
	Usage     Usage
	Stop      StopReason
	Repairs   []Repair
	Frame     *Frame
	// More says that another delta follows at once, so that this one need not be sent on its own.
	// Only answers that are told in frames say so.
	More bool
}

// Progress reports whether d moves the answer forward: text, tool arguments and
// reasoning do; pings, starts and usage do not.
func (d Delta) Progress() bool {
	switch d.Kind {
	case DeltaText, DeltaThinking, DeltaCall, DeltaArgs, DeltaStop:
		return true
	}
	return false
}
