package host

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Limits on a plugin's standard error.
const (
	maxLine        = 8 << 10 // longer lines are cut into pieces
	linesPerSecond = 200
	bytesPerMinute = 1 << 20
	suppressEvery  = 10 * time.Second
	keptLines      = 50
	keptOfLine     = 1 << 10
)

// stderrLog reads what a plugin writes to standard error: it keeps the last lines, and
// logs a bounded number. It trusts none of it.
type stderrLog struct {
	logger *slog.Logger
	said   *lastLines
	redact func(string) string
	ended  chan struct{} // closed at the end of the stream
	mu     sync.Mutex
	last   []string

	second, minute time.Time
	lines, bytes   int
	suppressed     int
	due            *time.Timer // logs the number of suppressed lines; nil while there are none
}

func newStderrLog(logger *slog.Logger, said *lastLines, redact func(string) string) *stderrLog {
	return &stderrLog{logger: logger, said: said, redact: redact, ended: make(chan struct{})}
}

// follow reads until r ends.
func (s *stderrLog) follow(r io.Reader) {
	defer close(s.ended)
	defer s.tell()
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			s.add(strings.TrimRight(string(line), "\r\n"), time.Now())
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (s *stderrLog) add(line string, now time.Time) {
	line = s.redact(line)
	s.mu.Lock()
	if len(s.last) == keptLines {
		s.last = append(s.last[:0], s.last[1:]...)
	}
	s.last = append(s.last, printable(line, keptOfLine))
	s.said.add(line)
	allowed := s.allowed(len(line), now)
	if !allowed {
		s.suppressed++
		if s.due == nil {
			s.due = time.AfterFunc(suppressEvery, s.tell)
		}
	}
	s.mu.Unlock()
	if allowed {
		l := parseLogLine(line)
		s.logger.LogAttrs(context.Background(), l.level, l.message, l.attributes()...)
	}
}

// tell logs how many lines were suppressed.
func (s *stderrLog) tell() {
	s.mu.Lock()
	n := s.suppressed
	s.suppressed = 0
	if s.due != nil {
		s.due.Stop()
		s.due = nil
	}
	s.mu.Unlock()
	if n > 0 {
		s.logger.Warn("plugin floods standard error", "suppressed", n)
	}
}

func (s *stderrLog) allowed(n int, now time.Time) bool {
	if now.Sub(s.second) >= time.Second {
		s.second, s.lines = now, 0
	}
	if now.Sub(s.minute) >= time.Minute {
		s.minute, s.bytes = now, 0
	}
	s.lines++
	s.bytes += n
	return s.lines <= linesPerSecond && s.bytes <= bytesPerMinute
}

// tail is the end of the output, at most n bytes.
func (s *stderrLog) tail(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tail(strings.Join(s.last, "\n"), n)
}
