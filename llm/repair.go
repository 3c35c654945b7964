package llm

// RepairKind says what was changed in a transcript so that a model accepts it.
type RepairKind string

// The kinds of repair. None of them runs a tool again or loses text.
const (
	// RepairResultMissing: a tool call had no result; the model is told so.
	RepairResultMissing RepairKind = "result_missing"
	// RepairResultOrphaned: a result without a call, or a second one for a call, was left out.
	RepairResultOrphaned RepairKind = "result_orphaned"
	// RepairThinking: reasoning of another model was left out.
	RepairThinking RepairKind = "thinking_dropped"
	// RepairReasoning: reasoning that its own provider would not accept back was left out, with its
	// signatures.
	RepairReasoning RepairKind = "reasoning_refused"
	// RepairSignature: another model's signature was removed from a tool call.
	RepairSignature RepairKind = "signature_dropped"
	// RepairID: a tool call and its result got an id that the wire accepts.
	RepairID RepairKind = "id_changed"
	// RepairImage: an image was replaced with a sentence, since the model accepts none.
	RepairImage RepairKind = "image_omitted"
	// RepairEmpty: text that was only white space was left out.
	RepairEmpty RepairKind = "empty_dropped"
	// RepairUTF8: bytes that are not UTF-8 were replaced.
	RepairUTF8 RepairKind = "utf8_replaced"
	// RepairOpening: a user's message was put before the first message, which was the model's.
	RepairOpening RepairKind = "opening_added"
	// RepairTemplate: special tokens of a model's template were removed from the end of its
	// answer.
	RepairTemplate RepairKind = "template_cut"
)

// Repair is one kind of change, and how often it was made in a transcript.
type Repair struct {
	Kind  RepairKind `json:"kind"`
	Count int        `json:"count"`
}
