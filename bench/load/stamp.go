package main

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// A stamp is a mark in a text and a time after it, in nanoseconds since 1970. The provider
// fills in its times as it writes them.
const (
	markAsked  = "asked=" // when the request arrived
	markSent   = "sent="
	markBy     = "by=" // the number of the caller
	stampWidth = 19    // digits, until the year 2286
)

var blank = strings.Repeat("0", stampWidth)

// stamped is an answer of a number of words, one for each delta, that are at least size
// bytes long. The first also says when it was asked for.
func stamped(words, size int) string {
	word := markSent + blank
	word += strings.Repeat(".", max(0, size-len(word)-1)) + " "
	return markAsked + blank + "," + strings.Repeat(word, words)
}

// called is an answer of a number of words to a call through the proxy, at least size bytes long.
func called(words, size int) string {
	word := markBy + blank + "," + markSent + blank
	word += strings.Repeat(".", max(0, size-len(word)-1)) + " "
	return markAsked + blank + "," + strings.Repeat(word, words)
}

// fill puts a time into the first stamp of a text with that mark, if there is one.
func fill(text []byte, mark string, at time.Time) {
	if i := bytes.Index(text, []byte(mark+blank)); i >= 0 {
		strconv.AppendInt(text[:i+len(mark)], at.UnixNano(), 10)
	}
}

// stamp gives the time of the first stamp of a text with that mark.
func stamp(text, mark string) (time.Time, bool) {
	digits, ok := digitsOf(text, mark)
	if !ok {
		return time.Time{}, false
	}
	ns, err := strconv.ParseInt(digits, 10, 64)
	return time.Unix(0, ns), err == nil
}

// digitsOf gives the digits behind the first mark of that kind in a text.
func digitsOf(text, mark string) (string, bool) {
	_, rest, ok := strings.Cut(text, mark)
	if !ok || len(rest) < stampWidth {
		return "", false
	}
	return rest[:stampWidth], true
}
