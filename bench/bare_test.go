package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// bare calls the provider as one would without Mulligan: net/http, a scanner over the lines, and
// encoding/json for the text in them.
type bare struct {
	url    string
	client http.Client
}

func newBare(url string, dial dialFunc) *bare {
	return &bare{
		url:    url + "/v1/chat/completions",
		client: http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 64}},
	}
}

type bareMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type bareRequest struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Options  any           `json:"stream_options"`
	Messages []bareMessage `json:"messages"`
}

type bareChunk struct {
	Choices []struct {
		Delta bareMessage `json:"delta"`
	} `json:"choices"`
}

// ask returns the answer's text, or an error with the status.
func (c *bare) ask(ctx context.Context, model, prompt string) (string, error) {
	body, err := json.Marshal(bareRequest{
		Model: model, Stream: true, Options: map[string]bool{"include_usage": true},
		Messages: []bareMessage{{Role: "user", Content: prompt}},
	})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-bench")
	resp, err := c.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, err := io.Copy(io.Discard, resp.Body)
		return "", fmt.Errorf("%s (%w)", resp.Status, err)
	}
	return readText(resp.Body)
}

func readText(body io.Reader) (string, error) {
	var text strings.Builder
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		switch {
		case !ok:
			continue
		case string(data) == "[DONE]":
			_, err := io.Copy(io.Discard, body)
			return text.String(), err
		}
		var chunk bareChunk
		if err := json.Unmarshal(data, &chunk); err != nil {
			return "", err
		}
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	return "", io.ErrUnexpectedEOF
}
