package llm

import "slices"

// Headers are the headers of one call that may be kept and shown: those of the request and, once it
// came, of the answer. Secrets are removed from them.
type Headers struct {
	Sent         []Header `json:"sent,omitempty"`
	SentMore     int      `json:"sentMore,omitempty"` // other headers, of which not even the name is told
	Received     []Header `json:"received,omitempty"`
	ReceivedMore int      `json:"receivedMore,omitempty"`
}

// Each is a copy of h with every header as change leaves it; nil for nil.
func (h *Headers) Each(change func(*Header)) *Headers {
	if h == nil {
		return nil
	}
	changed := *h
	changed.Sent, changed.Received = slices.Clone(h.Sent), slices.Clone(h.Received)
	for _, list := range [][]Header{changed.Sent, changed.Received} {
		for i := range list {
			change(&list[i])
		}
	}
	return &changed
}

// Header is one header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // "" = not told: it may hold a secret
}
