package openai

// Server is what a decoder has to know of the server that it listens to, and tells of it.
// Some servers never name a finish_reason and say [DONE] alone, which is also what a cut
// looks like where a gateway puts the [DONE].
type Server interface {
	// NewID makes an id for a call that came without one, which no other has.
	NewID() string
	// Named notes that the server has named the reason of an end.
	Named()
	// Whole reports whether an answer that ended by [DONE] alone is whole; answers that
	// said the same have the same digest.
	Whole(digest uint64) bool
}
