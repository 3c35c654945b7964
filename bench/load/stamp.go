package main

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// A stamp is a mark in a text, followed by a time in nanoseconds since 1970. The provider
// fills in the times when it writes them.
const (
	markAsked  = "asked=" // when the request arrived
	markSent   = "sent="
	markBy     = "by=" // the number of the caller
	stampWidth = 19    // digits, until the year 2286
)

var blank = strings.Repeat("0", stampWidth)

// stamped is an answer with that many words, one per delta, of at least size bytes
// each. The first also says when the request arrived.
func stamped(words, size int) string {
	word := markSent + blank
	word += strings.Repeat(".", max(0, size-len(word)-1)) + " "
	return markAsked + blank + "," + strings.Repeat(word, words)
}

// called is an answer to a call through the proxy, with that many words of at least size bytes
// each.
func called(words, size int) string {
	word := markBy + blank + "," + markSent + blank
	word += strings.Repeat(".", max(0, size-len(word)-1)) + " "
	return markAsked + blank + "," + strings.Repeat(word, words)
}

// fill writes a time into the first stamp with that mark, if there is one.
func fill(text []byte, mark string, at time.Time) {
	if i := bytes.Index(text, []byte(mark+blank)); i >= 0 {
		strconv.AppendInt(text[:i+len(mark)], at.UnixNano(), 10)
	}
}

// stamp returns the time in the first stamp with that mark.
func stamp(text, mark string) (time.Time, bool) {
	digits, ok := digitsOf(text, mark)
	if !ok {
		return time.Time{}, false
	}
	ns, err := strconv.ParseInt(digits, 10, 64)
	return time.Unix(0, ns), err == nil
}

// digitsOf returns the digits after the first occurrence of that mark.
func digitsOf(text, mark string) (string, bool) {
	_, rest, ok := strings.Cut(text, mark)
	if !ok || len(rest) < stampWidth {
		return "", false
	}
	return rest[:stampWidth], true
}
