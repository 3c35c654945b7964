package proxy

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"strconv"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// unsaid is what was passed on as it came, and so is unknown to the encoder. Consecutive deltas
// of one kind share their text, which costs little more than the text itself, and are separated
// again later, because some wires count them.
type unsaid struct {
	runs []deltaRun
	item string // the id of the item that is encoded, "" once it is used or if there is none
}

type deltaRun struct {
	like llm.Delta // each of them, except for its text
	item string    // the id that frames gave to the item they belong to, "" if they gave none
	text []byte
	ends []int // of each one's text
	over *int  // no delta: the part with that number has ended
}

// add remembers d, which was made from the last of frames.
func (u *unsaid) add(d llm.Delta, frames []byte) {
	if n := len(u.runs); n == 0 || !continues(u.runs[n-1].like, d) {
		like := d
		like.Text, like.Ends = "", nil
		u.runs = append(u.runs, deltaRun{like: like, item: itemIn(frames)})
	}
	run := &u.runs[len(u.runs)-1]
	from := len(run.text)
	run.text = append(run.text, d.Text...)
	for i := range len(d.Ends) - 1 { // the last one is that of all the text
		run.ends = append(run.ends, min(from+d.Ends[i], len(run.text)))
	}
	run.ends = append(run.ends, len(run.text))
}

// leave remembers that the part of the answer with that number has ended. Of several that end one
// after another only the last counts, so that a provider that ends parts without end costs nothing.
func (u *unsaid) leave(part int) {
	if n := len(u.runs); n > 0 && u.runs[n-1].over != nil {
		*u.runs[n-1].over = max(*u.runs[n-1].over, part)
		return
	}
	u.runs = append(u.runs, deltaRun{over: &part})
}

// continues reports whether b differs from a only in its text.
func continues(a, b llm.Delta) bool {
	plain := a.Signature == "" && a.Redacted == "" && b.Signature == "" && b.Redacted == ""
	switch b.Kind {
	case llm.DeltaText, llm.DeltaThinking, llm.DeltaArgs:
		return a.Kind == b.Kind && a.Index == b.Index && plain
	}
	return false
}

// encode passes everything to e, and empties u.
func (u *unsaid) encode(e *wire.Encoder) (frames []byte) {
	for _, run := range u.runs {
		from := 0
		u.item = run.item
		if run.over != nil {
			frames = e.Leave(*run.over, frames)
		}
		for _, end := range run.ends {
			d := run.like
			d.Text, from = string(run.text[from:end]), end
			frames = e.Encode(d, frames)
		}
	}
	*u = unsaid{}
	return frames
}

// newID is the id of the item that is encoded, if its caller knows one already, and otherwise
// unused.
func (u *unsaid) newID(prefix string) string {
	if id := u.item; id != "" {
		u.item = ""
		return id
	}
	return newID(prefix)
}

// idIn is the first id in frames, which is the answer's; "" if there is none. key is its key, with
// quotes.
func idIn(frames []byte, key string) string {
	for {
		_, rest, ok := bytes.Cut(frames, []byte(key))
		if !ok {
			return ""
		}
		if id := quoted(rest); id != "" {
			return id
		}
		frames = rest
	}
}

// itemIn is the id of the last item in frames, on a wire whose answers have items; otherwise "".
func itemIn(frames []byte) string {
	key := []byte(`"item_id"`)
	at := bytes.LastIndex(frames, key)
	if at < 0 {
		return ""
	}
	return quoted(frames[at+len(key):])
}

// partIn is the number that follows the first such key in a frame, -1 for none.
func partIn(frame []byte, key string) int {
	_, rest, _ := bytes.Cut(frame, []byte(key))
	rest = bytes.TrimLeft(rest, ": ")
	digits := bytes.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	part, err := strconv.Atoi(string(rest[:max(digits, 0)]))
	if err != nil {
		return -1
	}
	return part
}

// quoted is the id after the colon that data begins with; "" if no id is there.
func quoted(data []byte) string {
	text, ok := bytes.CutPrefix(bytes.TrimLeft(data, ": "), []byte(`"`))
	id, _, ended := bytes.Cut(text, []byte(`"`))
	if !ok || !ended || len(id) > 128 || bytes.ContainsAny(id, "\\\n") {
		return ""
	}
	return string(id)
}

// newID makes a unique id.
func newID(prefix string) string {
	var random [15]byte
	rand.Read(random[:]) // never fails
	return prefix + base32.StdEncoding.EncodeToString(random[:])
}
