// Package compat asks the official SDKs whether our wire adapters say and hear
// what they should. It is a module of its own, so that nobody else compiles them.
//
// Each conversation is sent by an adapter to a server that plays a recorded
// stream. The request must pass through the SDK's own types without loss, and the
// SDK must hear in the same stream what the adapter heard.
//
// The other way round, provider.Transport watches each SDK have what can happen to a
// call. What the SDKs themselves say of it is pinned beside what is true.
package compat
