package explain

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/show"
)

const (
	// MaxPasted is how much is read of a body including its head, in bytes.
	MaxPasted = 1 << 20
	// quietFor is how long input may be silent before a person is told what the program
	// waits for.
	quietFor = 2 * time.Second
)

// Told is what flags say about a failure.
type Told struct {
	Provider, Model, Code, When string
	Body                        string // a file, or - for stdin
	Status                      int
	Headers                     []string // name: value
}

// Report combines flags, arguments and stdin, without secrets. If it waits for a person at a
// terminal, it says so.
func (t *Told) Report(stdin io.Reader, s *show.Screen, args []string) (Report, error) {
	r := Report{Provider: t.Provider, Model: t.Model, Code: t.Code, Message: strings.Join(args, " "), Header: http.Header{}}
	pasted, err := t.pasted(stdin, s, r.Message == "")
	if err != nil {
		return r, err
	}
	if err := r.Paste(config.Hidden(pasted)); err != nil {
		return r, exit.Usage(err)
	}
	if err := t.over(&r); err != nil {
		return r, exit.Usage(err)
	}
	r.Message, r.Code = config.Hidden(r.Message), config.Hidden(r.Code)
	if r.Empty() {
		return r, exit.Usagef("there is nothing to explain: give a message, a --status or a --code, or pipe an answer in (`%s explain --help` has examples)", show.Invoked())
	}
	return r, nil
}

// over lets flags override what was pasted.
func (t *Told) over(r *Report) (err error) {
	if t.Status != 0 {
		if r.Status, err = parseStatus(strconv.Itoa(t.Status)); err != nil {
			return err
		}
	}
	if t.When != "" {
		if r.When, err = parseWhen(t.When); err != nil {
			return err
		}
	}
	for _, line := range t.Headers {
		name, _, _ := strings.Cut(line, ":")
		r.Header.Del(strings.TrimSpace(name))
	}
	for _, line := range t.Headers {
		if err := addHeader(r.Header, config.Hidden(line)); err != nil {
			return err
		}
	}
	return nil
}

// pasted reads the file of --body, or else stdin if that is wanted and is not a
// terminal.
func (t *Told) pasted(stdin io.Reader, s *show.Screen, wanted bool) (string, error) {
	if t.Body != "" && t.Body != "-" {
		file, err := os.Open(t.Body)
		if err != nil {
			return "", exit.Usage(fmt.Errorf("--body: %w", err))
		}
		defer func() { _ = file.Close() }()
		stdin = file
	} else if t.Body == "" && (!wanted || show.IsTerminalReader(stdin)) {
		return "", nil
	}
	said := make(chan struct{})
	patience := time.AfterFunc(quietFor, func() {
		s.Line("Waiting for a body on stdin; its end is Ctrl-D.")
		close(said)
	})
	text, err := io.ReadAll(io.LimitReader(stdin, MaxPasted))
	if !patience.Stop() {
		<-said
	}
	if err != nil {
		return "", fmt.Errorf("reading the body: %w", err)
	}
	return string(text), nil
}
