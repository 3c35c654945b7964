package wire

import (
	"errors"

	"github.com/mulligan-run/mulligan/llm"
)

// State says how far a Decoder has come.
type State uint8

const (
	// Open: the terminal event has not been seen.
	Open State = iota
	// Finished: it has; more may follow, but need not.
	Finished
	// Done: nothing follows.
	Done
)

// Decoder makes deltas of one answer's events.
type Decoder interface {
	// Decode appends what an event means to deltas; nothing at all if it is a sign
	// of life. The deltas may not refer to data. An error ends the answer: a
	// *ReportedError, ErrCut, or one with ErrMalformed in its chain.
	Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error)
	// State is asked after each event.
	State() State
	// Stop is the reason why the answer ended, once it is Finished.
	Stop() llm.StopReason
}

// Doubtful is a Decoder whose terminal event some servers send with every part of an answer:
// more of it is waited for longer. Where a clock of the runner's ends that, the answer is whole.
type Doubtful interface{ Doubtful() bool }

// Unstreamer is a Decoder that also knows its wire's answer as one document, which some
// servers send although a stream was asked for.
type Unstreamer interface {
	// Unstream gives the events that the document stands for. The error is ErrNoAnswer
	// where it is no whole answer.
	Unstream(document []byte) ([][]byte, error)
}

// ErrNoAnswer is an Unstreamer's error.
var ErrNoAnswer = errors.New("the document is not a whole answer")
