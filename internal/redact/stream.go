package redact

// maxHeld is the most that waits for what follows, in bytes.
const maxHeld = 16 << 10

// Stream takes secrets out of a text that comes in pieces, also where one is spread over
// several. What is enough of a secret to be its beginning waits for the next piece; two
// letters of one tell nobody anything, and are shown, since much else ends with them. Make
// one by Known.Stream.
type Stream struct {
	known *Known
	shown string // the last of what was given, where it may be the beginning of a secret
	held  string // what was not given yet
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

// after cuts off what of spans stands before a place, where the text was given already.
func after(spans []span, place int) []span {
	var out []span
	for _, s := range spans {
		if s.to > place {
			out = append(out, span{max(s.from, place), s.to})
		}
	}
	return out
}

// Flush gives what waits, before something else is shown or when nothing follows. What comes
// by Push afterwards still goes on from there.
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
