package faultlab

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

const (
	bigPiece = 64 << 10         // bytes of a filler written at once
	rawTime  = 10 * time.Second // for a client to read what is written past HTTP
)

// player plays the script of a row.
type player struct {
	*exchange
	values catalogue.Values
	raw    bool     // past the framing of HTTP
	conn   net.Conn // taken over for that; nil until something is sent
}

func (x *exchange) playRow(s catalogue.Script) {
	p := &player{exchange: x, raw: s.Status == 0, values: catalogue.Values{
		Now: time.Now(), Model: x.ask.model, Tool: firstTool(x.asked.Request.Tools),
	}}
	if !p.raw {
		p.head(s)
	}
	for _, a := range s.Acts {
		p.act(a)
	}
	if p.raw {
		p.cut()
	}
}

// head sends the header of a script, and only what HTTP itself adds to it.
func (p *player) head(s catalogue.Script) {
	h := p.w.Header()
	h["Content-Type"] = nil // or net/http would guess one
	for _, line := range s.Header {
		h.Add(line[0], p.values.Fill(line[1]))
	}
	p.w.WriteHeader(s.Status)
}

func (p *player) act(a catalogue.Act) {
	switch a.Do {
	case catalogue.Raw:
		p.raw = true
		p.send(a.Data)
	case catalogue.Send:
		p.send(a.Data)
	case catalogue.Pause:
		p.emit("")
		p.pause(a.For)
	case catalogue.Big:
		for left := a.Size; left > 0; left -= bigPiece {
			p.write(strings.Repeat("x", int(min(left, bigPiece))))
		}
	case catalogue.Repeat:
		for i := 0; a.Times == 0 || i < a.Times; i++ {
			for _, inner := range a.Acts {
				p.act(inner)
			}
		}
	default:
		p.end(a.Do)
	}
}

func (p *player) end(how catalogue.Do) {
	if !p.raw {
		p.emit("")
	}
	switch how {
	case catalogue.Hang:
		p.forever()
	case catalogue.Cut:
		p.cut()
	case catalogue.Reset:
		p.pause(settle)
		if p.conn == nil {
			p.reset()
			return
		}
		resetConn(p.conn)
	}
}

func (p *player) send(data string) { p.write(p.values.Fill(data)) }

func (p *player) write(data string) {
	if !p.raw {
		p.emit(data)
		return
	}
	if p.conn == nil {
		p.conn = p.takeOver()
		_ = p.conn.SetWriteDeadline(time.Now().Add(rawTime))
	}
	if _, err := p.conn.Write([]byte(data)); err != nil {
		p.cut()
	}
}

// cut closes the connection, whatever is missing, and ends the exchange.
func (p *player) cut() {
	if p.conn != nil {
		_ = p.conn.Close()
	}
	panic(http.ErrAbortHandler)
}
