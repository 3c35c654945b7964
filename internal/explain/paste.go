package explain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/mulligan-run/mulligan/show"
)

// Paste reads what was pasted: a whole HTTP response, a body, or only a message.
func (r *Report) Paste(text string) error {
	text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	for heads := 0; strings.HasPrefix(text, "HTTP/"); heads++ { // curl -i may print several; the last one counts
		var err error
		if heads == maxHeads {
			return fmt.Errorf("the pasted response has more than %d status lines", maxHeads)
		}
		if text, err = r.head(text); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if r.Status == 0 && r.Message == "" && !strings.ContainsAny(text[:1], "{[<\"") && !isStream(text) {
		r.Message = strings.TrimSpace(text[:min(len(text), maxReportBody)])
		return nil
	}
	r.body = text
	return nil
}

func isStream(text string) bool {
	_, stream := lastEvent(text)
	return stream
}

// head reads the status line and the headers of a response, and returns the rest.
func (r *Report) head(text string) (rest string, err error) {
	source := bufio.NewReader(strings.NewReader(text))
	lines := textproto.NewReader(source)
	first, err := lines.ReadLine()
	if err != nil {
		return "", err
	}
	_, status, _ := strings.Cut(first, " ")
	if r.Status, err = parseStatus(status); err != nil {
		return "", fmt.Errorf("the pasted response begins with %q: %w", show.Clipped(first), err)
	}
	header, err := lines.ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) { // a paste may end with its head
		return "", fmt.Errorf("the pasted response has a header that cannot be read (an empty line ends the headers): %w", err)
	}
	r.Header = http.Header{}
	for name, values := range header {
		for _, value := range values {
			if err := addHeader(r.Header, name+": "+value); err != nil {
				return "", err
			}
		}
	}
	body, err := io.ReadAll(source)
	return strings.TrimLeft(string(body), "\r\n"), err
}

// maxHeads is how many heads of answers may follow each other.
const maxHeads = 32
