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

// What a plugin may say on standard error.
const (
	maxLine        = 8 << 10 // longer lines are cut into pieces
	linesPerSecond = 200
	bytesPerMinute = 1 << 20
	suppressEvery  = 10 * time.Second
	keptLines      = 50
	keptOfLine     = 1 << 10
)

// stderrLog takes in what a plugin writes to standard error: the last lines are
// kept, and a bounded number goes to the log. Nothing of it is trusted.
type stderrLog struct {
	logger *slog.Logger
	said   *lastLines
	ended  chan struct{} // closed once there is nothing more to read
	mu     sync.Mutex
	last   []string

	second, minute time.Time
	lines, bytes   int
	suppressed     int
	due            *time.Timer // tells what is suppressed; nil while nothing is
}

func newStderrLog(logger *slog.Logger, said *lastLines) *stderrLog {
	return &stderrLog{logger: logger, said: said, ended: make(chan struct{})}
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

// tell logs how many lines the log does not have.
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

// tail is the last of what was said, at most n bytes.
func (s *stderrLog) tail(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tail(strings.Join(s.last, "\n"), n)
}
