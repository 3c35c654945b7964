package wire

import (
	"errors"

	"github.com/mulligan-run/mulligan/llm"
)

// State says how far a Decoder has got.
type State uint8

const (
	// Open: the terminal event has not come yet.
	Open State = iota
	// Finished: it has come; more may follow, but need not.
	Finished
	// Done: nothing follows.
	Done
)

// Decoder turns the events of one answer into deltas.
type Decoder interface {
	// Decode appends the deltas of an event to deltas; none if the event only shows that the
	// provider is alive. The deltas must not refer to data. An error ends the answer: a
	// *ReportedError, ErrCut, or one with ErrMalformed in its chain.
	Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error)
	// State is called after each event.
	State() State
	// Stop is why the answer ended, once it is Finished.
	Stop() llm.StopReason
}

// Doubtful is a Decoder with a terminal event that some servers send with every part of an answer,
// so that a reader has to wait for more. If one of the runner's timers ends that wait, the answer
// is whole.
type Doubtful interface{ Doubtful() bool }

// Unstreamer is a Decoder that can also read the wire's answer as one document, which some servers
// send although a stream was asked for.
type Unstreamer interface {
	// Unstream gives the events of the same answer as a stream. The error is ErrNoAnswer if the
	// document is not a whole answer.
	Unstream(document []byte) ([][]byte, error)
}

// ErrNoAnswer is the error of Unstream for a document that is not a whole answer.
var ErrNoAnswer = errors.New("the document is not a whole answer")
