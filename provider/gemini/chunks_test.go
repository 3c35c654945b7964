package gemini

import "strings"

// parts makes a chunk of parts.
func parts(list string) string {
	return `{"candidates":[{"content":{"parts":[` + list + `],"role":"model"},"index":0}]}` + "\n"
}

// finish makes the chunk that ends an answer.
func finish(reason string) string {
	return `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"` + reason + `"}]}` + "\n"
}

// list makes one event of chunks.
func list(chunks ...string) string {
	return "[" + strings.ReplaceAll(strings.TrimSpace(strings.Join(chunks, "")), "\n", ",") + "]"
}
