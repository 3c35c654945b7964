package gateway

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

const (
	longText = 64 << 10 // texts of at least so many bytes are written piece by piece
	piece    = 32 << 10 // bytes in a piece
)

// formats are how answers are encoded: as huma does it, except for runs, whose texts may be
// so long that their JSON should not be held in memory as well.
func formats() map[string]huma.Format {
	usual := huma.DefaultJSONFormat
	ours := huma.Format{Unmarshal: usual.Unmarshal, Marshal: func(w io.Writer, v any) error {
		if run, ok := v.(Run); ok {
			defer runtime.KeepAlive(run.of)
			return writeRun(w, run)
		}
		return usual.Marshal(w, v)
	}}
	return map[string]huma.Format{"application/json": ours, "json": ours}
}

// texts are the long texts of a document, in order. A mark stands for each of them in
// the document.
type texts struct {
	mark string
	html bool // escapes HTML characters, as in the stored form of an event
	all  []string
}

// out takes a text out of the document, if it is long.
func (t *texts) out(text string) string {
	if len(text) < longText {
		return text
	}
	t.all = append(t.all, text)
	return t.mark + strconv.Itoa(len(t.all)-1) + ";"
}

func writeRun(w io.Writer, run Run) error {
	t := &texts{mark: rand.Text()} // whoever wrote a text cannot have guessed it
	run.Answer.Text = t.out(run.Answer.Text)
	run.Messages = t.outOfAll(run.Messages)
	return t.write(w, run)
}

// writeEvent writes the stored form of an event.
func writeEvent(w io.Writer, e recovery.Event) error {
	t := &texts{mark: rand.Text(), html: true}
	e.Body = t.outOfBody(e.Body)
	return t.write(w, e)
}

// isLong reports whether an event contains a long text.
func isLong(e *recovery.Event) bool {
	t := &texts{}
	t.outOfBody(e.Body)
	return len(t.all) > 0
}

// outOfBody takes out the texts in everything that a person, a model or a tool said.
func (t *texts) outOfBody(b recovery.Body) recovery.Body {
	switch b := b.(type) {
	case recovery.Started:
		b.System, b.Input = t.out(b.System), t.outOfAll(b.Input)
		return b
	case recovery.Answered:
		b.Message.Parts = t.outOfParts(b.Message.Parts)
		return b
	case recovery.Failed:
		b.Text = t.out(b.Text)
		return b
	case recovery.CancelRequested:
		b.Text = t.out(b.Text)
		return b
	case recovery.ToolReturned:
		b.Result.Text = t.out(b.Result.Text)
		return b
	case recovery.Compacted:
		b.Messages = t.outOfAll(b.Messages)
		return b
	}
	return b
}

func (t *texts) outOfAll(messages []llm.Message) []llm.Message {
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].Parts = t.outOfParts(messages[i].Parts)
	}
	return messages
}

func (t *texts) outOfParts(parts []llm.Part) []llm.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i] = t.outOfPart(parts[i])
	}
	return parts
}

func (t *texts) outOfPart(p llm.Part) llm.Part {
	p.Text = t.out(p.Text)
	if p.Thinking != nil {
		thinking := *p.Thinking
		thinking.Text = t.out(thinking.Text)
		p.Thinking = &thinking
	}
	if p.Result != nil {
		result := *p.Result
		result.Text = t.out(result.Text)
		p.Result = &result
	}
	return p
}

// write writes a document, putting the texts back in place of their marks.
func (t *texts) write(w io.Writer, without any) error {
	var buf bytes.Buffer
	if err := t.encode(&buf, without); err != nil {
		return err
	}
	for doc := buf.Bytes(); ; {
		before, rest, found := bytes.Cut(doc, []byte(t.mark))
		if _, err := w.Write(before); err != nil || !found {
			return err
		}
		index, after, _ := bytes.Cut(rest, []byte(";"))
		n, err := strconv.Atoi(string(index))
		if err != nil {
			return err
		}
		if err := t.writeText(w, t.all[n]); err != nil {
			return err
		}
		doc = after
	}
}

// writeText writes a text as the inside of a JSON string.
func (t *texts) writeText(w io.Writer, text string) error {
	var buf bytes.Buffer
	for text != "" {
		n := min(piece, len(text))
		for back := 0; n < len(text) && back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
			n--
		}
		buf.Reset()
		if err := t.encode(&buf, text[:n]); err != nil {
			return err
		}
		if _, err := w.Write(bytes.Trim(buf.Bytes(), "\n")[1 : buf.Len()-2]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// encode writes JSON as huma's own format does, or encoding/json.
func (t *texts) encode(buf *bytes.Buffer, v any) error {
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(t.html)
	return e.Encode(v)
}
