package llm

import (
	"encoding/json"
	"strings"
)

// Answer folds the deltas of one call into a message. The zero value is ready to use.
type Answer struct {
	Usage     Usage
	Stop      StopReason // empty until the terminal event
	RequestID string
	TextBytes int // bytes of text so far
	Calls     int // tool calls so far
	ArgsBytes int // bytes of arguments of the call with the longest

	pieces []*piece
	calls  map[int]int // index on the wire → index in pieces
}

// usualText is room for a short text, in bytes, so that it need not grow with every delta.
const usualText = 512

type piece struct {
	kind      DeltaKind
	text      strings.Builder
	id, name  string
	signature string
	redacted  string
}

// Add adds the next delta.
func (a *Answer) Add(d Delta) {
	switch d.Kind {
	case DeltaStart:
		a.RequestID = d.RequestID
	case DeltaText:
		a.TextBytes += len(d.Text)
		a.last(DeltaText).text.WriteString(d.Text)
	case DeltaThinking:
		a.addThinking(d)
	case DeltaCall:
		if a.calls == nil {
			a.calls = map[int]int{}
		}
		a.Calls++
		a.calls[d.Index] = len(a.pieces)
		a.pieces = append(a.pieces, &piece{kind: DeltaCall, id: d.CallID, name: d.Name, signature: d.Signature})
	case DeltaArgs:
		if at, ok := a.calls[d.Index]; ok {
			a.pieces[at].text.WriteString(d.Text)
			a.ArgsBytes = max(a.ArgsBytes, a.pieces[at].text.Len())
		}
	case DeltaUsage:
		a.Usage = d.Usage
	case DeltaStop:
		a.Stop = d.Stop
	}
}

// Message is what the deltas make up so far, as a message of the named model. A call without
// arguments gets an empty object.
func (a *Answer) Message(model string) Message {
	m := Message{Role: RoleAssistant, Model: model, Parts: make([]Part, 0, len(a.pieces))}
	for _, p := range a.pieces {
		m.Parts = append(m.Parts, p.part())
	}
	return m
}

func (a *Answer) addThinking(d Delta) {
	p := a.last(DeltaThinking)
	if p.signature != "" || p.redacted != "" || (d.Redacted != "" && p.text.Len() > 0) {
		a.pieces = append(a.pieces, &piece{kind: DeltaThinking})
		p = a.pieces[len(a.pieces)-1]
	}
	p.text.WriteString(d.Text)
	p.signature, p.redacted = d.Signature, d.Redacted
}

func (a *Answer) last(kind DeltaKind) *piece {
	if n := len(a.pieces); n == 0 || a.pieces[n-1].kind != kind {
		p := &piece{kind: kind}
		p.text.Grow(usualText)
		a.pieces = append(a.pieces, p)
	}
	return a.pieces[len(a.pieces)-1]
}

func (p *piece) part() Part {
	switch p.kind {
	case DeltaThinking:
		return Part{Thinking: &Thinking{Text: p.text.String(), Signature: p.signature, Redacted: p.redacted}}
	case DeltaCall:
		args := p.text.String()
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		return Part{Call: &ToolCall{ID: p.id, Name: p.name, Args: json.RawMessage(args), Signature: p.signature}}
	default:
		return Part{Text: p.text.String()}
	}
}
