package failure

import (
	"errors"
	"strings"
)

// verdict is a kind, and what the rule that gave it says about it.
type verdict struct {
	kind    Kind
	variant string
	once    retryability
	by      Clue   // the clue that decided the kind
	finer   Clue   // the clue that decided the variant, if it was another one
	code    string // the provider's code that decided, in lower case
	daily   bool   // a day's allowance is used up: ignore any delay of seconds sent with it
}

// byAdapter takes the kind that the adapter saw, and the variant from the transport's words.
func (c *reading) byAdapter() (verdict, bool) {
	if c.e.Kind == "" {
		return verdict{}, false
	}
	v := verdict{kind: c.e.Kind, by: Clue{Source: ClueAdapter, Value: string(c.e.Kind)}}
	if by, ok := c.byRules(looseRules); ok && by.kind == v.kind && by.variant != "" {
		v.variant, v.finer = by.variant, by.by
	}
	return v, true
}

func (c *reading) byExactWords() (verdict, bool) { return c.byRules(exactWords) }
func (c *reading) byCode() (verdict, bool)       { return c.byRules(strongCodes) }
func (c *reading) bySentence() (verdict, bool)   { return c.byRules(sentences) }
func (c *reading) byServerCode() (verdict, bool) { return c.byRules(serverCodes) }

func (c *reading) byGeneralCode() (verdict, bool) {
	v, ok := c.byRules(generalCodes)
	return c.ofLimit(v), ok
}

func (c *reading) byRules(table []rule) (verdict, bool) {
	for i := range table {
		r := &table[i]
		m, ok := r.matches(c)
		if !ok {
			continue
		}
		v := verdict{kind: r.kind, variant: r.variant, once: r.once, code: m.code.lower, by: c.clueOf(r, m)}
		if r.wire && c.streaming() && r.kind == KindUnreachable {
			v.kind = KindStreamInterrupted
		}
		return v, true
	}
	return verdict{}, false
}

// clueOf is the evidence that matched r.
func (c *reading) clueOf(r *rule, m match) Clue {
	switch {
	case m.code.written != "":
		return Clue{Source: ClueCode, Where: m.code.where, Value: m.code.written}
	case r.wire && strings.Contains(c.wire, m.phrase):
		return Clue{Source: ClueTransport, Value: m.phrase}
	}
	return c.words(m.phrase)
}

// words is a clue of the words that were said.
func (c *reading) words(phrase string) Clue {
	where := clueError
	if len(c.e.Body) > 0 {
		where = clueBody
	}
	return Clue{Source: ClueWords, Where: where, Value: phrase}
}

// byAnswer recognises a complete answer that ended properly and has nothing in it.
func (c *reading) byAnswer() (verdict, bool) {
	if !c.body.isBlankAnswer() || c.status != 0 && c.status/100 != 2 {
		return verdict{}, false
	}
	end, ok := c.codeOf(properEnds)
	return verdict{kind: KindEmptyResponse, by: Clue{Source: ClueCode, Where: end.where, Value: end.written}}, ok
}

// properEnds are the codes of an answer that was not cut.
var properEnds = codes("stop", "end_turn", "eos", "eos_token", "stop_sequence", "completed", "complete")

// byStatus decides by the HTTP status alone.
func (c *reading) byStatus() (verdict, bool) {
	kind, variant := kindOfStatus(c.status)
	if kind == "" {
		return verdict{}, false
	}
	where := ""
	if c.status != c.e.Status {
		where = clueBody
	}
	v := verdict{kind: kind, variant: variant, by: statusClue(c.status, where)}
	if c.status == 504 && !c.isLate() {
		v.kind = KindUnavailable // gateways say so of any failure behind them
	}
	if _, general := c.codeOf(requestCodes); general && c.status == 404 && !strings.Contains(c.text, "model") {
		v.kind, v.variant = KindMisconfigured, "no_api"
	}
	return v, true
}

var requestCodes = codes("invalid_request_error")

// byInvalidCode takes a code that says no more than a status of 400 does.
func (c *reading) byInvalidCode() (verdict, bool) {
	code, ok := c.codeOf(invalidCodes)
	return verdict{kind: KindInvalidRequest, code: code.lower, by: Clue{Source: ClueCode, Where: code.where, Value: code.written}}, ok
}

// byWords reads the words of the transport, or of a program that passed a failure on as a message
// alone.
func (c *reading) byWords() (verdict, bool) {
	v, ok := c.transport().byRules(looseRules)
	if v.kind == KindTimeout && strings.Contains(c.wire, "lookup ") {
		v.kind, v.by.Value = KindUnreachable, "lookup"
	}
	return c.ofLimit(v), ok
}

// byWrapper reads the names of errors that wrap others.
func (c *reading) byWrapper() (verdict, bool) { return c.transport().byRules(wrappers) }

// byEnd decides by the way in which the answer ended, if there are no words.
func (c *reading) byEnd() (verdict, bool) {
	var timer interface{ Timeout() bool }
	odd, _ := kindOfStatus(c.odd)
	switch {
	case odd != "":
		return verdict{kind: odd, by: statusClue(c.odd, "")}, true
	case c.wire == "eof":
		return c.cut(), true
	case errors.As(c.e.Err, &timer) && timer.Timeout():
		return verdict{kind: KindTimeout, by: Clue{Source: ClueTransport, Value: "timeout"}}, true
	case c.body.isError: // an error in an answer with status 200
		return verdict{kind: KindUnavailable, by: Clue{Source: ClueCode, Where: clueBody, Value: "error"}}, true
	case c.e.Status/100 == 2:
		return c.unfinished(), true
	}
	return verdict{}, false
}

// transport gives the reading with Err's words before the body's.
func (c *reading) transport() *reading {
	t := *c
	if t.wire != "" && t.wire != t.text {
		t.text = t.wire + "\n" + t.text
		t.grams = trigrams{}
		t.grams.addAll(t.text)
	}
	return &t
}

// isLate reports whether the words are about time that ran out.
func (c *reading) isLate() bool {
	loose, _ := c.byWords()
	cause, _ := c.byCause()
	return loose.kind == KindTimeout || cause.kind == KindTimeout
}

// bySpokenStatus reads a status in a message. A 503 or 504 that was passed on says only that the
// provider has problems.
func (c *reading) bySpokenStatus() (verdict, bool) {
	kind, variant := kindOfStatus(c.spoken)
	switch c.spoken {
	case 502, 503, 504, 522, 524:
		kind = KindUnavailable
	}
	return verdict{kind: kind, variant: variant, by: statusClue(c.spoken, clueMessage)}, kind != ""
}

// cut is the verdict for a connection that ended too early.
func (c *reading) cut() verdict {
	v := verdict{kind: KindUnreachable, by: Clue{Source: ClueTransport, Value: "EOF"}}
	if c.streaming() {
		v.kind = KindStreamInterrupted
	}
	return v
}

// unfinished is the verdict for a response that is not a valid answer.
func (c *reading) unfinished() verdict {
	switch {
	case c.streaming():
		return verdict{kind: KindStreamInterrupted, by: Clue{Source: ClueTransport, Value: "no end of the stream"}}
	case len(c.e.Body) == 0 && c.e.Err == nil:
		return verdict{kind: KindEmptyResponse, by: statusClue(c.e.Status, "")}
	}
	return verdict{kind: KindMalformedResponse, once: never, by: statusClue(c.e.Status, "")}
}
