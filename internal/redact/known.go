package redact

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// Mark stands where a secret was.
	Mark = "[redacted]"

	minSecret = 6   // bytes; hiding shorter values would garble other text
	minWord   = 12  // bytes; what is shorter and of letters only is a word that people use for a key (ollama, lm-studio)
	maxKnown  = 256 // values; the oldest are forgotten
)

// Known is a set of secrets. The zero Known has none. It is safe for concurrent use.
type Known struct {
	now atomic.Pointer[trie]

	mu     sync.Mutex
	values []string
}

// New makes a Known of values.
func New(values ...string) *Known {
	k := &Known{}
	k.Add(values...)
	return k
}

// Add adds secrets. Values too short to be secrets, and short words, are ignored.
func (k *Known) Add(values ...string) {
	if k.has(values) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, value := range values {
		if isSecret(value) && !slices.Contains(k.values, value) {
			k.values = append(k.values, value)
		}
	}
	if extra := len(k.values) - maxKnown; extra > 0 {
		k.values = slices.Delete(k.values, 0, extra)
	}
	if len(k.values) > 0 {
		k.now.Store(newTrie(k.values))
	}
}

// With makes a Known of what k knows now, and values.
func (k *Known) With(values ...string) *Known {
	k.mu.Lock()
	all := append(slices.Clone(k.values), values...)
	k.mu.Unlock()
	return New(all...)
}

// has reports whether all values are known or no secrets.
func (k *Known) has(values []string) bool {
	t := k.now.Load()
	return !slices.ContainsFunc(values, func(value string) bool {
		return isSecret(value) && (t == nil || !slices.Contains(t.values, value))
	})
}

func isSecret(value string) bool {
	return len(value) >= minWord || len(value) >= minSecret && strings.ContainsFunc(value, isNoLetter)
}

func isNoLetter(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
}

// forms are the encodings of a value, apart from escapes.
func forms(value string) []string {
	list := []string{value, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			list = append(list, within(encoding, value, offset))
		}
	}
	return list
}

// within is what base64 makes of value at offset bytes after a boundary of a longer text, without
// the characters that it shares with its neighbours.
func within(encoding *base64.Encoding, value string, offset int) string {
	code := encoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + value))
	skip := []int{0, 2, 3}[offset]
	whole := (offset + len(value)) * 8 / 6
	return code[skip:whole]
}

// Longest is the length of the longest secret without escapes, in bytes.
func (k *Known) Longest() int {
	if t := k.now.Load(); t != nil {
		return t.longest
	}
	return 0
}

// Text is text without secrets.
func (k *Known) Text(text string) string {
	t := k.now.Load()
	if t == nil || len(text) < minSecret {
		return text
	}
	found, _, _ := t.find(text)
	return hide(text, found)
}

// Bytes is data without secrets: data itself if it has none.
func (k *Known) Bytes(data []byte) []byte {
	if k.now.Load() == nil {
		return data
	}
	text := string(data)
	if clean := k.Text(text); clean != text {
		return []byte(clean)
	}
	return data
}

// Error is err or, if its text contains a secret, a new error with clean text; the original must
// not be passed on.
func (k *Known) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := k.Text(text); clean != text {
		return errors.New(clean)
	}
	return err
}
