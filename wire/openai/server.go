package openai

// Server is what a decoder needs to know about a server, and learns about it. Some servers never
// give a finish_reason and end with [DONE] alone, which is also what a cut answer looks like if a
// gateway adds the [DONE].
type Server interface {
	// NewID makes an unused id for a call that came without one.
	NewID() string
	// Named records that the server gives a finish_reason.
	Named()
	// Whole reports whether an answer that ended with [DONE] alone is whole. Answers with the same
	// contents have the same digest.
	Whole(digest uint64) bool
}
