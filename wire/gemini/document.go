package gemini

// Unstream implements wire.Unstreamer: a chunk may also be a whole answer, or a list of its
// pieces.
func (s *stream) Unstream(document []byte) ([][]byte, error) { return [][]byte{document}, nil }
