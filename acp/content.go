package acp

import (
	"errors"
	"fmt"
	"strings"

	protocol "github.com/coder/acp-go-sdk"
)

// maxPrompt is the longest prompt, in bytes.
const maxPrompt = 4 << 20

// written is a prompt as one text: attachments are named by their addresses.
func written(blocks []protocol.ContentBlock) (string, error) {
	var parts []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			parts = append(parts, b.Text.Text)
		case b.ResourceLink != nil:
			parts = append(parts, fmt.Sprintf("[%s](%s)", b.ResourceLink.Name, b.ResourceLink.Uri))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			text := b.Resource.Resource.TextResourceContents
			parts = append(parts, fmt.Sprintf("%s:\n\n%s", text.Uri, text.Text))
		default:
			return "", invalid(errors.New("a prompt may only have text, links and embedded text: this one has something else, such as a picture"))
		}
	}
	text := strings.TrimSpace(strings.Join(parts, "\n\n"))
	switch {
	case text == "":
		return "", invalid(errors.New("the prompt is empty"))
	case len(text) > maxPrompt:
		return "", invalid(fmt.Errorf("the prompt has %d bytes; at most %d are allowed", len(text), maxPrompt))
	}
	return text, nil
}
