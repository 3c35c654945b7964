package openai

import (
	"encoding/json"
	"strings"
)

// partsChunk is a chunk with lists of parts as texts, as Mistral's reasoning models send it.
type partsChunk struct {
	Choices []struct {
		Delta struct {
			Content parts `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
}

// parts is content that is a string or a list. Parts that are neither text nor thinking, such as
// references, are ignored.
type parts struct{ text, thought string }

// UnmarshalJSON reads either form.
func (p *parts) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, &p.text)
	}
	var list []struct {
		Type     string   `json:"type"`
		Text     string   `json:"text"`
		Thinking thoughts `json:"thinking"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	var text, thought strings.Builder
	for _, part := range list {
		switch part.Type {
		case "text":
			text.WriteString(part.Text)
		case "thinking":
			thought.WriteString(string(part.Thinking))
		}
	}
	p.text, p.thought = text.String(), thought.String()
	return nil
}

// thoughts is the thinking in a part: a string, or a list of texts.
type thoughts string

// UnmarshalJSON reads either form.
func (t *thoughts) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, (*string)(t))
	}
	var list []struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(data, &list)
	var all strings.Builder
	for _, part := range list {
		all.WriteString(part.Text)
	}
	*t = thoughts(all.String())
	return err
}

// readParts reads the texts that are lists, after the rest of the chunk has been read.
func (c *wireChunk) readParts(data []byte) error {
	var chunk partsChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return err
	}
	for i := range min(len(c.Choices), len(chunk.Choices)) {
		delta := &c.Choices[i].Delta
		delta.Content = chunk.Choices[i].Delta.Content.text
		delta.Thought += chunk.Choices[i].Delta.Content.thought
	}
	return nil
}
