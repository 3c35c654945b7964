package redact

// skips passes over text that no form can be in, many bytes at a time, as Wu and Manber do: two
// bytes say how far the nearest form may end behind them.
type skips struct {
	least int            // the length of the shortest form
	by    [1 << 12]uint8 // of two bytes → how many bytes to go on; 0 = a form's first least bytes may end here
}

// newSkips makes the skips of forms, each of two bytes at least.
func newSkips(forms []string) *skips {
	s := &skips{least: len(forms[0])}
	for _, form := range forms {
		s.least = min(s.least, len(form))
	}
	for i := range s.by {
		s.by[i] = uint8(min(s.least-1, 255))
	}
	for _, form := range forms {
		for i := 1; i < s.least; i++ {
			by := &s.by[pair(form[i-1], form[i])]
			*by = min(*by, uint8(min(s.least-1-i, 255)))
		}
	}
	return s
}

// pair is a place in the table for two bytes, which others may share.
func pair(a, b byte) int { return int(a&0x7f)<<5 ^ int(b) }

// lacks reports whether no form is in text.
func (t *trie) lacks(text string) bool {
	s := t.skips
	for i := s.least - 1; i < len(text); {
		by := s.by[pair(text[i-1], text[i])]
		if by > 0 {
			i += int(by)
			continue
		}
		from := i - s.least + 1
		if t.second[text[from]].has(text[from+1]) {
			if length, _ := t.match(text[from:], len(text)); length > 0 {
				return false
			}
		}
		i++
	}
	return true
}
