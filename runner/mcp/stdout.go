package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxMessage is the longest message that a server may send, in bytes.
const maxMessage = 16 << 20

// messages reads a server's standard output and passes messages on. A server must write nothing
// else there, but many do: a greeting, a warning from their interpreter. Such lines are dropped,
// because the SDK would give up the connection.
type messages struct {
	from  io.ReadCloser
	in    *bufio.Reader
	noise func(line []byte) // called with each dropped line
	rest  []byte
}

func newMessages(from io.ReadCloser, noise func([]byte)) *messages {
	return &messages{from: from, in: bufio.NewReaderSize(from, 64<<10), noise: noise}
}

// Read reads messages, each of which is a line.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		if err != nil {
			return 0, err
		}
		if isMessage(line) {
			m.rest = line
		} else if len(line) > 1 {
			m.noise(line)
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// line reads a line and trims it; the line still ends with its newline.
func (m *messages) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := m.in.ReadSlice('\n')
		if len(line)+len(piece) > maxMessage {
			return nil, fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20)
		}
		line = append(line, piece...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return append(bytes.TrimSpace(line), '\n'), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func isMessage(line []byte) bool {
	var message struct {
		JSONRPC string `json:"jsonrpc"`
	}
	return line[0] == '{' && json.Unmarshal(line, &message) == nil && message.JSONRPC == "2.0"
}

// Close closes standard output.
func (m *messages) Close() error { return m.from.Close() }
