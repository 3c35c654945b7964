package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/provider"
)

const (
	// maxPasted is how much is read of a body, its head included.
	maxPasted = 1 << 20
	// maxHeads is how many heads of answers may follow each other.
	maxHeads = 32
	// quietFor is how long nothing may come before a person is told what is waited for.
	quietFor = 2 * time.Second
)

// told are the flags that tell of a failure.
type told struct {
	provider, model, code, when, body string
	status                            int
	headers                           []string
}

func (t *told) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.provider, "provider", "", "whose failure it is: anthropic, openai, …")
	f.StringVar(&t.model, "model", "", "the model that was asked")
	f.IntVar(&t.status, "status", 0, "the HTTP status")
	f.StringVar(&t.code, "code", "", "the provider's or the library's error code")
	f.StringArrayVar(&t.headers, "header", nil, "a header of the answer, 'name: value' (may be repeated)")
	f.StringVar(&t.body, "body", "", "the file that holds the body, - for stdin")
	f.StringVar(&t.when, "when", "", "how far it had come: before-connect, headers, mid-stream, end-of-stream")
}

// report is what flags, arguments and stdin tell, without secrets.
func (t *told) report(cmd *cobra.Command, args []string) (report, error) {
	r := report{provider: t.provider, model: t.model, code: t.code, message: strings.Join(args, " "), header: http.Header{}}
	pasted, err := t.pasted(cmd, r.message == "")
	if err != nil {
		return r, err
	}
	if err := r.paste(hidden(pasted)); err != nil {
		return r, usage(err)
	}
	if err := t.over(&r); err != nil {
		return r, usage(err)
	}
	r.message, r.code = hidden(r.message), hidden(r.code)
	if r.empty() {
		return r, usagef("there is nothing to explain: give a message, a --status or a --code, or pipe an answer in (`%s explain --help` has examples)", invoked())
	}
	return r, nil
}

// over puts what flags say over what was pasted.
func (t *told) over(r *report) (err error) {
	if t.status != 0 {
		if r.status, err = parseStatus(itoa(t.status)); err != nil {
			return err
		}
	}
	if t.when != "" {
		if r.when, err = parseWhen(t.when); err != nil {
			return err
		}
	}
	for _, line := range t.headers {
		name, _, _ := strings.Cut(line, ":")
		r.header.Del(strings.TrimSpace(name))
	}
	for _, line := range t.headers {
		if err := addHeader(r.header, hidden(line)); err != nil {
			return err
		}
	}
	return nil
}

// pasted reads the file of --body, else stdin where that is wanted and nobody would have
// to type.
func (t *told) pasted(cmd *cobra.Command, wanted bool) (string, error) {
	stdin := cmd.InOrStdin()
	if t.body != "" && t.body != "-" {
		file, err := os.Open(t.body)
		if err != nil {
			return "", usage(fmt.Errorf("--body: %w", err))
		}
		defer func() { _ = file.Close() }()
		stdin = file
	} else if t.body == "" && (!wanted || isTerminalReader(stdin)) {
		return "", nil
	}
	stderr := newScreen(cmd.OutOrStdout(), cmd.ErrOrStderr())
	said := make(chan struct{})
	patience := time.AfterFunc(quietFor, func() {
		stderr.line("Waiting for a body on stdin; its end is Ctrl-D.")
		close(said)
	})
	text, err := io.ReadAll(io.LimitReader(stdin, maxPasted))
	if !patience.Stop() {
		<-said
	}
	if err != nil {
		return "", fmt.Errorf("reading the body: %w", err)
	}
	return string(text), nil
}

// paste takes in what was pasted: a whole HTTP response, a body, or a mere message.
func (r *report) paste(text string) error {
	text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	for heads := 0; strings.HasPrefix(text, "HTTP/"); heads++ { // of several, as curl -i prints them, the last one counts
		var err error
		if heads == maxHeads {
			return fmt.Errorf("the pasted response has more than %d heads", maxHeads)
		}
		if text, err = r.head(text); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if r.status == 0 && r.message == "" && !strings.ContainsAny(text[:1], "{[<\"") && !isStream(text) {
		r.message = strings.TrimSpace(text[:min(len(text), maxReportBody)])
		return nil
	}
	r.body = text
	return nil
}

func isStream(text string) bool {
	_, stream := lastEvent(text)
	return stream
}

// head reads the status line and the headers of a response, and gives what follows them.
func (r *report) head(text string) (rest string, err error) {
	source := bufio.NewReader(strings.NewReader(text))
	lines := textproto.NewReader(source)
	first, err := lines.ReadLine()
	if err != nil {
		return "", err
	}
	_, status, _ := strings.Cut(first, " ")
	if r.status, err = parseStatus(status); err != nil {
		return "", fmt.Errorf("the pasted response begins with %q: %w", clipped(first), err)
	}
	header, err := lines.ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) { // a paste may end with its head
		return "", fmt.Errorf("the pasted response has a header that cannot be read (an empty line ends the headers): %w", err)
	}
	r.header = http.Header{}
	for name, values := range header {
		for _, value := range values {
			if err := addHeader(r.header, name+": "+value); err != nil {
				return "", err
			}
		}
	}
	body, err := io.ReadAll(source)
	return strings.TrimLeft(string(body), "\r\n"), err
}

// hidden hides what looks like a secret, and the keys of the environment.
func hidden(text string) string { return provider.Redact(text, ownKeys()...) }

// ownKeys are the values of the environment that are keys by their name and their length, and
// the log-ins of its proxies.
func ownKeys() []string {
	const least = 12
	var keys []string
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name)
		if len(value) >= least && (strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN")) {
			keys = append(keys, value)
		}
		if strings.HasSuffix(name, "_PROXY") {
			keys = append(keys, provider.ProxySecrets(value)...)
		}
	}
	return keys
}
