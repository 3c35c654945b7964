// Package aisdk is the AI SDK's own protocol for chats, its UI message stream: runs in its words, and
// its requests as what they want of runs. It was read in ai 7.0.173.
//
// A chat of the client is a conversation, by the same id; a run is one message of the assistant, whose
// id is the run's (voice.go). Each model call is a step; what is void is taken back by "reset-step". How
// a recovery goes is a part of the message, of type "data-recovery", which is replaced where it stands:
// also the buttons of a suggestion are in it. They are answered by asking for the message anew:
//
//	regenerate({body: {recovery: {suggestionId, action}}})
//
// request.go says what else a client may send; history.go has a conversation as messages, for a page
// that was just loaded. Package tell knows what there is to say, and this one only how it is said.
package aisdk
