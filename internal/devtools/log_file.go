package devtools

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"
)

// What is read of a plugin's log.
const (
	maxLogLine  = 64 << 10 // bytes; a longer line is cut into pieces
	maxLogRead  = 4 << 20  // bytes at a time
	keptLogs    = 2        // files that were rotated, the newest with .1
	logFileMode = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
)

// LogFile reads a plugin's log: what is there, and then new lines, across rotations by
// the hosts that write it.
type LogFile struct {
	plugin, path string
	file         *os.File // under path when it was opened; nil while there is none
	rest         []byte   // of an incomplete line
}

// History reads everything that is there.
func (l *LogFile) History() []LogLine {
	l.open()
	var lines []LogLine
	for n := keptLogs; n > 0; n-- {
		old, err := os.OpenFile(l.path+"."+strconv.Itoa(n), logFileMode, 0)
		if err != nil {
			continue
		}
		if !l.isOpen(old) { // as it is where it was rotated just now
			before := &LogFile{plugin: l.plugin, file: old}
			lines = append(lines, before.read()...)
		}
		_ = old.Close()
	}
	return append(lines, l.read()...)
}

// news reads what was added since.
func (l *LogFile) news() []LogLine {
	lines := l.read()
	there, err := os.OpenFile(l.path, logFileMode, 0)
	if err != nil {
		return lines
	}
	if l.isOpen(there) {
		_ = there.Close()
		return lines
	}
	if l.file != nil {
		lines = append(lines, l.read()...) // what came before it was rotated
		_ = l.file.Close()
	}
	l.file, l.rest = there, nil
	return append(lines, l.read()...)
}

func (l *LogFile) open() {
	if file, err := os.OpenFile(l.path, logFileMode, 0); err == nil {
		l.file = file
	}
}

func (l *LogFile) isOpen(other *os.File) bool {
	if l.file == nil {
		return false
	}
	x, err := l.file.Stat()
	y, otherErr := other.Stat()
	return err == nil && otherErr == nil && os.SameFile(x, y)
}

// read returns the complete lines since the last read.
func (l *LogFile) read() []LogLine {
	if l.file == nil {
		return nil
	}
	fresh, _ := io.ReadAll(io.LimitReader(l.file, maxLogRead)) // what cannot be read is not shown
	l.rest = append(l.rest, fresh...)
	var lines []LogLine
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte{'\n'})
		switch {
		case len(line) > maxLogLine:
			line, rest = l.rest[:maxLogLine], l.rest[maxLogLine:]
		case !whole:
			return lines
		}
		l.rest = rest
		if len(bytes.TrimSpace(line)) > 0 {
			lines = append(lines, parseLine(l.plugin, string(line)))
		}
	}
}
