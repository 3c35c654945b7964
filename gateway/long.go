package gateway

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/llm"
)

const (
	longText = 64 << 10 // bytes of a text that is written piece by piece
	piece    = 32 << 10 // bytes of it at a time
)

// formats are how answers are written: as huma does, but for runs, whose texts may be so long
// that their JSON is not to be held in memory as well.
func formats() map[string]huma.Format {
	usual := huma.DefaultJSONFormat
	ours := huma.Format{Unmarshal: usual.Unmarshal, Marshal: func(w io.Writer, v any) error {
		if run, ok := v.(Run); ok {
			return writeRun(w, run)
		}
		return usual.Marshal(w, v)
	}}
	return map[string]huma.Format{"application/json": ours, "json": ours}
}

// texts are the long texts of a document, in its order. Where they belong it has a mark.
type texts struct {
	mark string
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
	t := &texts{mark: rand.Text()} // nobody who writes a text knows it
	run.Answer.Text = t.out(run.Answer.Text)
	run.Messages = slices.Clone(run.Messages)
	for i, m := range run.Messages {
		parts := slices.Clone(m.Parts)
		for k, p := range parts {
			parts[k] = t.outOfPart(p)
		}
		run.Messages[i].Parts = parts
	}
	var doc bytes.Buffer
	if err := encode(&doc, run); err != nil {
		return err
	}
	return t.write(w, doc.Bytes())
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

// write writes the document, with the texts in their places.
func (t *texts) write(w io.Writer, doc []byte) error {
	for {
		before, rest, found := bytes.Cut(doc, []byte(t.mark))
		if _, err := w.Write(before); err != nil || !found {
			return err
		}
		index, after, _ := bytes.Cut(rest, []byte(";"))
		n, err := strconv.Atoi(string(index))
		if err != nil {
			return err
		}
		if err := writeText(w, t.all[n]); err != nil {
			return err
		}
		doc = after
	}
}

// writeText writes a text as it stands between the quotes of JSON.
func writeText(w io.Writer, text string) error {
	var buf bytes.Buffer
	for text != "" {
		n := min(piece, len(text))
		for back := 0; n < len(text) && back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
			n--
		}
		buf.Reset()
		if err := encode(&buf, text[:n]); err != nil {
			return err
		}
		if _, err := w.Write(bytes.Trim(buf.Bytes(), "\n")[1 : buf.Len()-2]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// encode writes JSON as huma's own format does.
func encode(buf *bytes.Buffer, v any) error {
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
