package pi

import "strings"

const maxErrors = 16 << 10 // bytes of the end of stderr

// lastLines are the last lines that Pi printed.
func lastLines(kept []byte) string {
	const most = 20
	list := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(kept), "\uFFFD")), "\n")
	return strings.Join(list[max(0, len(list)-most):], "\n")
}

// lastLine is the last line that is not empty.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
