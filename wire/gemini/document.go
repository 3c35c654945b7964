package gemini

// Unstream implements wire.Unstreamer: an answer as a whole, or a list of its pieces, is what
// a chunk may be.
func (s *stream) Unstream(document []byte) ([][]byte, error) { return [][]byte{document}, nil }
