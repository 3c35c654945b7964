package hooks

import (
	"encoding/json"
	"slices"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// Limits on the part of a transcript that a plugin gets.
const (
	maxTranscript     = 1 << 20  // bytes of JSON
	maxTranscriptText = 64 << 10 // bytes of one text or result
)

// recent is the part of a transcript that a plugin may see if it was granted the transcript: the
// newest messages that fit into maxTranscript, with long texts cut, images without data, and
// reasoning without the parts for its own model. It does not change messages.
func recent(messages []llm.Message) []llm.Message {
	var recent []llm.Message
	size := 0
	for _, m := range slices.Backward(messages) {
		m = bare(m)
		text, err := json.Marshal(m)
		if size += len(text) + 1; err != nil || size > maxTranscript-2 {
			break
		}
		recent = append(recent, m)
	}
	slices.Reverse(recent)
	return recent
}

func bare(m llm.Message) llm.Message {
	m.Parts = append([]llm.Part{}, m.Parts...)
	for i, p := range m.Parts {
		m.Parts[i].Text = words.Clip(p.Text, maxTranscriptText)
		switch {
		case p.Thinking != nil:
			m.Parts[i].Thinking = &llm.Thinking{Text: words.Clip(p.Thinking.Text, maxTranscriptText)}
		case p.Image != nil:
			m.Parts[i].Image = &llm.Image{MediaType: p.Image.MediaType, Data: []byte{}}
		case p.Result != nil:
			result := *p.Result
			result.Text = words.Clip(result.Text, maxTranscriptText)
			m.Parts[i].Result = &result
		case p.Call != nil:
			m.Parts[i].Call = &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args}
		}
	}
	return m
}
