package sse

import (
	"bytes"
	"errors"
	"slices"
)

// MaxSize is the largest line, and the largest data of one event, in bytes.
const MaxSize = 4 << 20

// ErrTooLarge says that a line or an event is larger than MaxSize.
var ErrTooLarge = errors.New("sse: line or event larger than 4 MiB")

const (
	startSize = 1 << 10  // of the buffer: most events are shorter
	largeRead = 4 << 10  // likewise if Raw is kept: what net/http has read at once is then passed on at once
	keepSize  = 64 << 10 // a larger buffer for joined lines of data is not reused
)

// Event is one event, or bytes that only show that the sender is alive. Name, Data and Raw are valid
// until the next call of Next. The Raw of an event directly follows that of the one before in
// memory if both were read at once.
type Event struct {
	Name []byte
	Data []byte
	Raw  []byte // all bytes since the last Raw, if the Parser keeps them; within an event, without comments
	Idle bool   // bytes without a meaning: a comment, or an event without data
}

// Parser makes events from bytes. It gives each event as soon as its blank line has come. The
// zero Parser is ready to use.
type Parser struct {
	Keep bool // sets Raw in each event

	buf  []byte
	raw  int  // buf[raw:from] was read and is part of no Raw yet
	told bool // it was returned as a Raw
	from int  // unread bytes are buf[from:to]
	to   int
	seen int // bytes after from that contain no line end

	skipLF  bool // the last line ended with CR
	started bool // the byte order mark has been looked for

	name    []byte
	data    []byte
	hasData bool
	inBuf   bool   // data is the only line of it, and still where it was read
	joined  []byte // reused for the data of several lines
	dirty   bool   // a field was read since the last blank line
}

// Push takes data and calls each with every event that it completes. After an error (ErrTooLarge,
// or one that each returns) nothing more can be pushed.
func (p *Parser) Push(data []byte, each func(Event) error) error {
	for len(data) > 0 {
		room, err := p.room()
		if err != nil {
			return err
		}
		n := copy(room, data)
		data = data[n:]
		p.to += n
		if err := p.drain(each); err != nil {
			return err
		}
	}
	return nil
}

func (p *Parser) drain(each func(Event) error) error {
	for {
		event, ok, err := p.next()
		if err != nil || !ok {
			return err
		}
		if err := each(event); err != nil {
			return err
		}
	}
}

// next returns the next event, if one is there.
func (p *Parser) next() (Event, bool, error) {
	p.forget()
	event, ok, err := p.parse()
	if ok && !p.dirty && p.Keep { // an event goes on after a comment
		event.Raw, p.told = p.kept(), true
	}
	return event, ok, err
}

// forget forgets the bytes that were returned as a Raw.
func (p *Parser) forget() {
	if p.told || !p.Keep {
		p.raw, p.told = p.from, false
	}
}

// kept are the bytes for the next Raw.
func (p *Parser) kept() []byte { return p.buf[p.raw:p.from] }

func (p *Parser) parse() (Event, bool, error) {
	p.reset()
	for {
		line, ok := p.line()
		if !ok {
			return Event{}, false, nil
		}
		if p.Keep && p.from-p.raw > MaxSize {
			return Event{}, false, ErrTooLarge
		}
		switch {
		case len(line) == 0 && p.hasData:
			return p.event(), true, nil
		case len(line) == 0 && p.dirty:
			p.name, p.dirty = p.name[:0], false
			return Event{Idle: true}, true, nil
		case len(line) == 0:
		case line[0] == ':':
			return Event{Idle: true}, true, nil
		default:
			if err := p.field(line); err != nil {
				return Event{}, false, err
			}
		}
	}
}

// reset forgets the last event that was returned. An unfinished event that a comment interrupted is
// kept.
func (p *Parser) reset() {
	if p.dirty {
		return
	}
	p.name, p.data, p.hasData, p.inBuf = p.name[:0], nil, false, false
	if cap(p.joined) > keepSize {
		p.joined = nil
	}
}

func (p *Parser) event() Event {
	p.dirty = false
	return Event{Name: p.name, Data: slices.Clip(p.data)}
}

func (p *Parser) field(line []byte) error {
	p.dirty = true
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		p.name = append(p.name[:0], value...)
	case "data":
		if len(p.data)+len(value) >= MaxSize {
			return ErrTooLarge
		}
		if !p.hasData {
			p.data, p.hasData, p.inBuf = value, true, true
			return nil
		}
		p.takeOut()
		p.joined = append(append(p.joined, '\n'), value...)
		p.data = p.joined
	}
	return nil
}

// takeOut copies the data out of the buffer, which changes, or more data follows.
func (p *Parser) takeOut() {
	if p.inBuf {
		p.joined, p.inBuf = append(p.joined[:0], p.data...), false
		p.data = p.joined
	}
}

// line takes a line from the buffer, without its end, if it is complete. It is valid until room
// is made for more.
func (p *Parser) line() ([]byte, bool) {
	p.endCRLF()
	fresh := p.buf[p.from+p.seen : p.to]
	end, looked := lineEnd(fresh)
	if end < 0 {
		p.seen += looked
		return nil, false
	}
	line := p.buf[p.from : p.from+p.seen+end]
	p.skipLF = fresh[end] == '\r'
	p.from += p.seen + end + 1
	p.seen = 0
	p.endCRLF()
	return p.unmark(line), true
}

// endCRLF skips the LF of a CRLF, if it has come by now.
func (p *Parser) endCRLF() {
	if p.skipLF && p.from < p.to {
		if p.buf[p.from] == '\n' {
			p.from++
		}
		p.skipLF = false
	}
}

// lineEnd is where the first line ends, -1 if it does not, and how many bytes were looked at. Those
// are not many more than the line has: it does not search all the rest for one kind of line end.
func lineEnd(b []byte) (end, looked int) {
	for size := 128; looked < len(b); size *= 2 {
		from := looked
		looked = min(len(b), from+size)
		piece := b[from:looked]
		lf := bytes.IndexByte(piece, '\n')
		if lf >= 0 {
			piece = piece[:lf]
		}
		if cr := bytes.IndexByte(piece, '\r'); cr >= 0 {
			return from + cr, looked
		}
		if lf >= 0 {
			return from + lf, looked
		}
	}
	return -1, looked
}

func (p *Parser) unmark(line []byte) []byte {
	if p.started {
		return line
	}
	p.started = true
	return bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
}

// room gives a buffer for more bytes.
func (p *Parser) room() ([]byte, error) {
	p.takeOut()
	p.forget()
	if n := p.raw; n > 0 {
		copy(p.buf, p.buf[n:p.to])
		p.raw, p.from, p.to = 0, p.from-n, p.to-n
	}
	if p.to-p.from >= MaxSize {
		return nil, ErrTooLarge
	}
	if p.to == len(p.buf) {
		start := startSize
		if p.Keep {
			start = largeRead
		}
		p.buf = append(p.buf, make([]byte, max(start, min(len(p.buf), MaxSize)))...)
	}
	return p.buf[p.to:], nil
}
