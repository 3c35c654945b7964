package peers

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// asked is a line from a member that follows runs: exactly one of its fields is set.
type asked struct {
	Follow string `json:"follow,omitempty"` // or follow it again, from the beginning of its text
	Leave  string `json:"leave,omitempty"`
}

// told is a line from the member that drives them; without a run it only shows that the member is
// alive.
type told struct {
	Run      string `json:"run,omitempty"`
	Attempt  uint64 `json:"attempt,omitempty"`
	Seq      uint64 `json:"seq,omitempty"`
	Offset   int    `json:"offset,omitempty"`
	Text     []byte `json:"text,omitempty"` // any bytes
	Begins   bool   `json:"begins,omitempty"`
	Thinking bool   `json:"thinking,omitempty"`
}

func toldOf(s timeline.Speech) told {
	return told{Run: s.Run, Attempt: s.Attempt, Seq: s.Seq, Offset: s.Offset, Text: []byte(s.Text), Begins: s.Begins, Thinking: s.Thinking}
}

func (l told) speech() timeline.Speech {
	return timeline.Speech{Run: l.Run, Attempt: l.Attempt, Seq: l.Seq, Offset: l.Offset, Text: string(l.Text), Begins: l.Begins, Thinking: l.Thinking}
}

// readLine reads a line into to, in bounded time and memory.
func readLine(lines *bufio.Scanner, to any) (ok bool) {
	return lines.Scan() && json.Unmarshal(lines.Bytes(), to) == nil
}

func scanner(conn net.Conn) *bufio.Scanner {
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	return lines
}

// writer writes the lines of many goroutines to a connection. It flushes them as soon as no
// goroutine is about to write another one.
type writer struct {
	conn    net.Conn
	waiting atomic.Int32

	mu  sync.Mutex
	out *bufio.Writer
}

func newWriter(conn net.Conn) *writer {
	return &writer{conn: conn, out: bufio.NewWriterSize(conn, maxLine)}
}

// write writes a line, or closes the connection if that fails.
func (w *writer) write(line any) error {
	form, err := json.Marshal(line)
	if err != nil {
		return err
	}
	w.waiting.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	more := w.waiting.Add(-1) > 0
	if err := w.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err = w.out.Write(append(form, '\n')); err == nil && !more {
		err = w.out.Flush()
	}
	if err != nil {
		_ = w.conn.Close() // the goroutine that reads from it notices
	}
	return err
}
