package llm

// Headers are the headers of one call that may be kept and shown: those of the request and, once it
// came, of the answer. Secrets are removed from them.
type Headers struct {
	Sent         []Header `json:"sent,omitempty"`
	SentMore     int      `json:"sentMore,omitempty"` // other headers, of which not even the name is told
	Received     []Header `json:"received,omitempty"`
	ReceivedMore int      `json:"receivedMore,omitempty"`
}

// Header is one header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // "" = not told: it may hold a secret
}
