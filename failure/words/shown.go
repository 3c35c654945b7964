package words

import (
	"regexp"
	"strings"
	"sync"
)

// Shown makes somebody else's words fit to stand in a sentence: one line without HTML, without a
// stack trace, and without anything that looks like a key. Known keys were removed earlier by the
// code that knows them; this removes the others.
func Shown(text string) string {
	switch {
	case !IsTidy(text), strings.Contains(text, "<"):
		text = Tidy(Plain(WithoutStack(text)))
	case len(text) < minKey:
		return text
	}
	if !mayHaveKeys(text) {
		return withoutTail(text)
	}
	return withoutKeys(withoutTail(text))
}

// withoutTail cuts a one-line text where a stack trace begins.
func withoutTail(text string) string {
	if !mayHaveTail(text) {
		return text // most texts need no slow search
	}
	if cut := stackTail().FindStringIndex(text); cut != nil {
		return strings.TrimSpace(text[:cut[0]])
	}
	return text
}

// mayHaveTail is false for most texts in which stackTail finds nothing.
func mayHaveTail(text string) bool {
	if strings.Contains(text, "goroutine ") || strings.Contains(text, "Traceback") || strings.Contains(text, `File "`) {
		return true
	}
	for colon := strings.IndexByte(text, ':'); colon >= 0; {
		text = text[colon+1:]
		if text != "" && text[0] >= '0' && text[0] <= '9' {
			return true
		}
		colon = strings.IndexByte(text, ':')
	}
	return false
}

// stackTail matches the beginning of a stack trace in a one-line text: Go's, JavaScript's,
// Python's.
var stackTail = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^| )(?:goroutine [0-9]+ \[|at (?:async )?(?:[^ ]+ \()?[^ ()]+:[0-9]+:[0-9]+\)?|Traceback \(most recent call last\)|File "[^"]*", line [0-9]+)`)
})

// minKey is the length of the shortest key, with its prefix, in bytes.
const minKey = 16

// keyPrefixes are what the keys of providers and code hosts begin with.
var keyPrefixes = []string{
	"sk-", "sk_", "pk_", "rk_", "csk-", "gsk_", "xai-", "AIza", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "glpat-", "r8_",
	"AKIA", "ASIA", "ya29.", "eyJ", "pplx-", "nvapi-", "fw_", "tgp_", "key-",
}

// mayHaveKeys is false for most texts in which withoutKeys finds nothing.
func mayHaveKeys(text string) bool {
	if strings.Contains(text, "://") {
		return true
	}
	for end := minKey - 1; end < len(text); { // where a token of that length may end
		begin := end
		for begin > end-minKey && inKeys[text[begin]] {
			begin--
		}
		if begin == end-minKey {
			return true
		}
		end = begin + minKey
	}
	return false
}

// withoutKeys replaces every key, every bearer token, and the user and password of every URL with
// "…".
func withoutKeys(text string) string {
	var b strings.Builder
	kept, bearer := 0, false
	for i := 0; i < len(text); {
		n := tokenLen(text[i:])
		token := text[i : i+n]
		switch {
		case n == 0:
			if text[i] != ' ' && text[i] != ':' {
				bearer = false
			}
			n = 1
			if text[i] == ':' {
				n += userinfoLen(text[i:])
			}
			if n > 1 {
				b.WriteString(text[kept:i] + "://…@")
				kept = i + n
			}
		case n >= minKey && (bearer || hasKeyPrefix(token)):
			b.WriteString(text[kept:i] + "…")
			kept, bearer = i+n, false
		default:
			bearer = n == len("bearer") && strings.EqualFold(token, "bearer")
		}
		i += n
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

func hasKeyPrefix(token string) bool {
	for _, prefix := range keyPrefixes {
		if strings.HasPrefix(token, prefix) {
			return true
		}
	}
	return false
}

// tokenLen is how many bytes at the beginning of text may belong to a key.
func tokenLen(text string) int {
	n := 0
	for n < len(text) && inKeys[text[n]] {
		n++
	}
	return n
}

// inKeys are the bytes that may belong to a key.
var inKeys = func() (is [256]bool) {
	for b := range is {
		is[b] = IsWord(byte(b)) || strings.IndexByte("-.+*", byte(b)) >= 0
	}
	return is
}()

// userinfoLen is the length of "://user:password@" after the first byte of text; 0 if it is
// something else.
func userinfoLen(text string) int {
	if !strings.HasPrefix(text, "://") {
		return 0
	}
	end := strings.IndexAny(text[3:], "@/ \"")
	if end < 0 || text[3+end] != '@' {
		return 0
	}
	return 3 + end
}
