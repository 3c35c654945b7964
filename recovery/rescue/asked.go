package rescue

import (
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Sent describes what an attempt was sent, as far as the log has it: raw bytes are never logged.
type Sent struct {
	System   int           `json:"systemBytes,omitempty" doc:"How long the system text is."`
	Tools    []string      `json:"tools,omitempty" doc:"That the models were told of."`
	Messages []SentMessage `json:"messages" doc:"The conversation, as it is now; an attempt was sent as many of them as it says."`
	Left     int           `json:"messagesLeftOut,omitempty" doc:"Of the beginning, where there were too many."`
}

// SentMessage is one message of the conversation.
type SentMessage struct {
	Role  string `json:"role"`
	Model string `json:"model,omitempty"`
	Text  string `json:"text" doc:"Its beginning; tool calls and results as text."`
	Bytes int    `json:"bytes" doc:"How long all of it is."`
}

const maxTools = 128

func (b *Builder) ask(body recovery.Started) {
	b.out.Asked.System = len(body.System)
	for i, t := range body.Tools {
		if i == maxTools {
			break
		}
		b.out.Asked.Tools = append(b.out.Asked.Tools, t.Name)
	}
}

// bytes is about how many bytes the next attempt is sent.
func (b *Builder) bytes() int {
	n := len(b.run.System)
	for _, m := range b.run.Messages {
		n += len(textOf(m))
	}
	return n
}

func (b *Builder) messages() (list []SentMessage, left int) {
	all := b.run.Messages
	if len(all) > maxMessages {
		left = len(all) - maxMessages
		all = all[left:]
	}
	list = []SentMessage{}
	for _, m := range all {
		text := textOf(m)
		list = append(list, SentMessage{Role: string(m.Role), Model: m.Model, Text: words.Clip(text, maxText), Bytes: len(text)})
	}
	return list, left
}

// textOf writes a message as text.
func textOf(m llm.Message) string {
	var parts []string
	for _, p := range m.Parts {
		switch {
		case p.Text != "":
			parts = append(parts, p.Text)
		case p.Call != nil:
			parts = append(parts, fmt.Sprintf("%s(%s)", p.Call.Name, p.Call.Args))
		case p.Result != nil:
			parts = append(parts, p.Result.Text)
		case p.Image != nil:
			parts = append(parts, "[picture]")
		}
	}
	return strings.Join(parts, "\n")
}
