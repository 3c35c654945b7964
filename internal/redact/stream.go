package redact

// maxHeld is how much may be held back, in bytes.
const maxHeld = 16 << 10

// Stream removes secrets from a text that comes in pieces, even if one is spread over several.
// Text that may be the beginning of a secret is held back for the next piece; two letters of one
// are shown, since they reveal nothing and much else ends with them. Made by Known.Stream.
type Stream struct {
	known *Known
	shown string // the end of what was given, if it may begin a secret
	held  string // held back
}

// Stream begins a text.
func (k *Known) Stream() *Stream { return &Stream{known: k} }

// Push takes the next piece and gives what may be shown.
func (s *Stream) Push(piece string) string {
	t := s.known.now.Load()
	if t == nil {
		return piece
	}
	text, given := piece, len(s.shown)
	if s.shown != "" || s.held != "" {
		text = s.shown + s.held + piece
	}
	found, open, wait := t.find(text)
	if len(text)-open > maxHeld {
		open, wait = len(text), len(text)
	}
	for len(found) > 0 && found[len(found)-1].to > open { // it may be longer yet
		open = min(open, found[len(found)-1].from)
		wait = min(wait, open)
		found = found[:len(found)-1]
	}
	ready := max(wait, given)
	s.shown, s.held = text[min(open, ready):ready], text[ready:]
	if given > 0 {
		found = after(found, given)
	}
	return hide(text[:ready], found)[given:]
}

// after cuts off the parts of spans before place, which were given already.
func after(spans []span, place int) []span {
	var out []span
	for _, s := range spans {
		if s.to > place {
			out = append(out, span{max(s.from, place), s.to})
		}
	}
	return out
}

// Flush gives what is held back, before something else is shown or when nothing follows. A later
// Push still continues from there.
func (s *Stream) Flush() string {
	if s.held == "" {
		return ""
	}
	t := s.known.now.Load()
	text := s.held
	s.shown, s.held = s.shown+s.held, ""
	if t == nil {
		return text
	}
	found, _, _ := t.find(s.shown)
	given := len(s.shown) - len(text)
	return hide(s.shown, after(found, given))[given:]
}
