// Package agui is AG-UI, the protocol between agents and pages: runs in its words, and its requests as
// what they want of runs. It was read in @ag-ui/client 1.0.0.
//
// A thread is a conversation, by the same id (request.go). Who sends no message of the user that is the last
// of all only wants to know how things stand: it gets the thread as it is, and the rest of a run that
// goes on, for the protocol has no other way to come back.
//
// What a run says are messages (voice.go). Text that is void is taken back by a snapshot of all messages
// without it: so a stream keeps what its client has sent. How a recovery goes is an activity, replaced
// where it stands, and the state's recovery, for the clients that draw one of the two. A suggestion ends
// the run: as its result, or as an interrupt where the client says that it answers those, because
// clients refuse to send anything else until that is done:
//
//	forwardedProps: {recovery: "interrupt"}
//
// It is answered by resume then, else by forwardedProps: {recovery: {suggestionId, action}}.
package agui
