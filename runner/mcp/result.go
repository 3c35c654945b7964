package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/runner"
)

// resultText is a result in the form in which models get it: the texts, one line for everything
// else, and structured content only if there is no text. A result that is an error becomes an
// error.
func resultText(result *sdk.CallToolResult) (string, error) {
	var parts []string
	said := false
	for _, c := range result.Content {
		text, isText := contentText(c)
		said = said || isText && text != ""
		if text != "" {
			parts = append(parts, text)
		}
	}
	if result.StructuredContent != nil && !said {
		structured, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return "", fmt.Errorf("the result cannot be written as JSON: %w", err)
		}
		parts = append(parts, string(structured))
	}
	text := words.Clip(strings.Join(parts, "\n"), runner.MaxToolResult)
	switch {
	case !result.IsError:
		return text, nil
	case text == "":
		text = "the tool failed and did not say why"
	}
	return "", errors.New(text)
}

// contentText is one part of a result; a part that is not text is named.
func contentText(content sdk.Content) (text string, isText bool) {
	switch c := content.(type) {
	case *sdk.TextContent:
		return c.Text, true
	case *sdk.ImageContent:
		return named(c.MIMEType, "image", len(c.Data)), false
	case *sdk.AudioContent:
		return named(c.MIMEType, "audio", len(c.Data)), false
	case *sdk.ResourceLink:
		return "[link to " + printable(c.Name+" "+c.URI, 500) + "]", false
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return "", false
		}
		if c.Resource.Text != "" {
			return c.Resource.Text, true
		}
		return named(c.Resource.MIMEType, "resource", len(c.Resource.Blob)), false
	}
	return "[something that is not text]", false
}

func named(mimeType, otherwise string, size int) string {
	kind := printable(mimeType, 100)
	if kind == "" {
		kind = otherwise
	}
	return fmt.Sprintf("[%s, %s]", kind, formatSize(size))
}

func formatSize(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", (n+1<<9)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
