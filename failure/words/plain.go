package words

import (
	"html"
	"strings"
)

// Plain gives what a person would read of text that may be HTML, without tags, scripts or styles,
// even escaped ones.
func Plain(text string) string {
	if !strings.Contains(text, "<") {
		return strings.TrimSpace(text)
	}
	text = html.UnescapeString(withoutTags(text))
	return strings.Join(strings.Fields(withoutTags(text)), " ")
}

// withoutTags replaces every tag, and the contents of scripts and styles, with a space.
func withoutTags(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	for text != "" {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:open])
		text = text[open:]
		if len(text) < 2 || !tagStart(text[1]) {
			b.WriteByte('<')
			text = text[1:]
			continue
		}
		end := strings.IndexByte(text, '>')
		if end < 0 {
			break
		}
		if isScript(text) {
			end += len(text[end+1:]) - len(afterClosing(text[end+1:]))
		}
		text = text[end+1:]
		b.WriteByte(' ')
	}
	return b.String()
}

// WithoutScripts removes scripts and styles only, so that JSON in a page stays as it is and the
// page's own code is not read as JSON.
func WithoutScripts(text string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:open])
		text = text[open:]
		if isScript(text) {
			text = afterClosing(text[1:])
			continue
		}
		b.WriteByte('<')
		text = text[1:]
	}
}

// isScript reports whether a script or style element begins text.
func isScript(text string) bool {
	name := strings.ToLower(text[1:min(len(text), 7)])
	return strings.HasPrefix(name, "script") || strings.HasPrefix(name, "style")
}

func tagStart(c byte) bool {
	return c == '/' || c == '!' || c == '?' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// afterClosing skips the contents of a script or style element.
func afterClosing(text string) string {
	if end := strings.Index(text, "</"); end >= 0 {
		return text[end:]
	}
	return ""
}

// WithoutStack removes the lines of a stack trace: those of JavaScript ("    at f (x.js:1:2)"),
// Python and Go.
func WithoutStack(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "goroutine ") && strings.Contains(line, "[") {
			break // everything after this line belongs to Go's stack
		}
		if !stackLine(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func stackLine(line string) bool {
	bare := strings.TrimSpace(line)
	indented := line[0] == ' ' || line[0] == '\t'
	switch {
	case strings.HasPrefix(bare, "at ") && (indented || strings.HasSuffix(bare, ")")),
		strings.HasPrefix(bare, "Traceback (most recent call last)"),
		strings.HasPrefix(bare, `File "`) && strings.Contains(bare, ", line "):
		return true
	}
	return false
}
