package llm

// DeltaKind says what a Delta carries.
type DeltaKind uint8

const (
	// DeltaPing: bytes without a meaning arrived (a ping, a comment). They reset the connection's
	// timer, but are no progress.
	DeltaPing DeltaKind = iota
	// DeltaStart: the provider has accepted the call, and its answer begins.
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
	// DeltaRepaired: Repairs says what was changed in the transcript before it was sent. It comes
	// first; only one with RepairTemplate comes directly before DeltaStop.
	DeltaRepaired
	// DeltaFrame: Frame is a piece of the response as it came from which no delta is made, or the
	// deltas made from it follow. Only a Request with a Native of the model's wire gets such
	// deltas.
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

// Delta is one thing received during a streaming call.
type Delta struct {
	Kind      DeltaKind
	Index     int // of the tool call, for DeltaCall and DeltaArgs; any numbers, different for each call
	Text      string
	CallID    string
	Name      string
	Signature string
	Redacted  string
	RequestID string // with DeltaStart, if the provider gives one
	Usage     Usage
	Stop      StopReason
	Repairs   []Repair
	Frame     *Frame // with DeltaFrame, or with the first delta made from it
	// Ends is where the text of each event ends, if Text and Frame are those of several events that
	// came together; nil = of one. Secrets that were removed do not move the ends. Only answers with
	// frames set it. It is valid until the next delta is asked for.
	Ends []int
	// More says that another delta follows immediately, so that this one need not be sent by
	// itself. Only answers with frames set it.
	More bool
}

// Progress reports whether d moves the answer forward: text, tool arguments and reasoning do;
// pings, starts and usage do not.
func (d *Delta) Progress() bool {
	switch d.Kind {
	case DeltaText, DeltaThinking, DeltaCall, DeltaArgs, DeltaStop:
		return true
	}
	return false
}
