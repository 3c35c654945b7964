package llm

// RepairKind says what was changed in a transcript so that a model takes it.
type RepairKind string

// The repairs. None of them runs a tool again or loses text.
const (
	// RepairResultMissing: a tool call had no result; the model is told so.
	RepairResultMissing RepairKind = "result_missing"
	// RepairResultOrphaned: a result that no call asked for, or a second one, was left out.
	RepairResultOrphaned RepairKind = "result_orphaned"
	// RepairThinking: reasoning of another model was left out.
	RepairThinking RepairKind = "thinking_dropped"
	// RepairReasoning: reasoning that its own provider refused to take back, and signatures with
	// it, were left out.
	RepairReasoning RepairKind = "reasoning_refused"
	// RepairSignature: another model's signature was taken off a tool call.
	RepairSignature RepairKind = "signature_dropped"
	// RepairID: a tool call got an id that the wire takes, and its result with it.
	RepairID RepairKind = "id_changed"
	// RepairImage: a picture gave way to a sentence, since the model takes none.
	RepairImage RepairKind = "image_omitted"
	// RepairEmpty: text without a word in it was left out.
	RepairEmpty RepairKind = "empty_dropped"
	// RepairUTF8: bytes that are not UTF-8 were replaced.
	RepairUTF8 RepairKind = "utf8_replaced"
	// RepairOpening: a user's turn was put before the first, which was the model's.
	RepairOpening RepairKind = "opening_added"
	// RepairTemplate: special tokens of a model's template were taken off the end of its answer.
	RepairTemplate RepairKind = "template_cut"
)

// Repair is one kind of change, and how often it was made in one transcript.
type Repair struct {
	Kind  RepairKind `json:"kind"`
	Count int        `json:"count"`
}
