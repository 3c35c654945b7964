package observe

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/internal/redact"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// letterDecoder reads events whose first letter says what they are.
type letterDecoder struct{ state wire.State }

func (l *letterDecoder) Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	text := string(data[1:])
	switch data[0] {
	case 't':
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: text})
	case 'h':
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaThinking, Text: text})
	case 's':
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaThinking, Text: text, Signature: "seal"})
	case '0', '1':
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaArgs, Index: int(data[0] - '0'), Text: text})
	case '2':
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: text}, llm.Delta{Kind: llm.DeltaUsage})
	case 'f':
		deltas, l.state = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: text}), wire.Finished
	case '.':
		l.state = wire.Done
	case '!':
		return append(deltas, llm.Delta{Kind: llm.DeltaUsage}), wire.Malformed("%s", text)
	}
	return deltas, nil
}

func (l *letterDecoder) State() wire.State    { return l.state }
func (l *letterDecoder) Stop() llm.StopReason { return llm.StopEnd }

// reads gives a body as it was cut; before is told before each read what was read so far.
type reads struct {
	pieces []string
	given  string
	before func(given string)
}

func (r *reads) Read(p []byte) (int, error) {
	r.before(r.given)
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.pieces[0])
	r.given += r.pieces[0][:n]
	if r.pieces[0] = r.pieces[0][n:]; r.pieces[0] == "" {
		r.pieces = r.pieces[1:]
	}
	return n, nil
}

func (r *reads) Close() error { return nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// told is what is told of an answer that comes in pieces.
func told(t rapid.TB, pieces []string, frames bool) (deltas []llm.Delta, err error) {
	seen := 0
	body := &reads{pieces: slices.Clone(pieces), before: func(given string) {
		if strings.Contains(given, "data: .") || strings.Contains(given, "data: f") {
			return // nobody waits for what follows the end
		}
		for i, d := range deltas[seen:] {
			if last := seen+i == len(deltas)-1; frames && d.More == last && (d.Frame == nil || d.Frame.Status == 0) {
				t.Fatalf("%q was read, and delta %d of %+v says %t of whether more follows", given, i, deltas[seen:], d.More)
			}
		}
		seen = len(deltas)
		whole := strings.TrimRight(given[:strings.LastIndex(given, "\n\n")+1], "\n")
		if raw := rawOf(deltas); frames && !strings.HasPrefix(raw, whole) {
			t.Fatalf("%q was read, and told is %q", given, raw)
		}
	}}
	c, err := New(Config{Provider: "p", BaseURL: "http://127.0.0.1", RoundTripper: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range c.Stream(context.Background(), func() (Ask, error) {
		return Ask{Model: "p/m", Header: http.Header{}, Secrets: SecretsOf(redact.New("a-secret-of-theirs")), Decoder: &letterDecoder{}, Frames: frames}, nil
	}) {
		if err != nil {
			return deltas, err
		}
		if d.Frame != nil { // it is lent
			d.Frame = &llm.Frame{Status: d.Frame.Status, Header: d.Frame.Header, Data: slices.Clone(d.Frame.Data)}
		}
		d.Ends = slices.Clone(d.Ends)
		deltas = append(deltas, d)
	}
	return deltas, nil
}

// rawOf are the bytes of the frames.
func rawOf(deltas []llm.Delta) (raw string) {
	for _, d := range deltas {
		if d.Frame != nil {
			raw += string(d.Frame.Data)
		}
	}
	return raw
}

// apart are deltas as each event of its own gives them, without what only says that it came.
func apart(deltas []llm.Delta) (out []llm.Delta) {
	for _, d := range deltas {
		ends := d.Ends
		d.Frame, d.More, d.Ends = nil, false, nil
		if d.Kind == llm.DeltaPing || d.Kind == llm.DeltaFrame {
			continue
		}
		from, text := 0, d.Text
		for _, end := range ends[:max(0, len(ends)-1)] {
			d.Text = text[from:end]
			out, from = append(out, d), end
		}
		d.Text = text[from:]
		out = append(out, d)
	}
	return out
}

// kinds are the events that letterDecoder reads, and comments.
var kinds = []string{"t", "h", "s", "0", "1", "2", "n", "#", "f", ".", "!"}

func event(kind, text string) string {
	if kind == "#" {
		return ": comment\n\n"
	}
	return "data: " + kind + text + "\n\n"
}

// TestBatches: events that are passed on together are told as the same bytes, the same deltas and
// the same end as one by one, and nothing that was told waits for a read.
func TestBatches(t *testing.T) {
	for _, a := range kinds {
		for _, b := range kinds {
			events := []string{event(a, "x"), event(b, "y"), event("t", "z"), event(".", "")}
			checkTold(t, events, []string{strings.Join(events, "")})
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		some := func(from []string, least, most int, what string) []string {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return event(rapid.SampledFrom(from).Draw(t, "kind"), rapid.SampledFrom([]string{"a", "b c", "Ø", strings.Repeat("long ", 30), ""}).Draw(t, "text"))
			}), least, most).Draw(t, what)
		}
		events := slices.Concat(some(kinds[:8], 1, 30, "events"), some(kinds[8:], 0, 1, "end"), some(kinds, 0, 2, "after it"))
		var pieces []string
		for rest := strings.Join(events, ""); rest != ""; {
			n := min(len(rest), rapid.SampledFrom([]int{1, 30, 300, 5000}).Draw(t, "read"))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		checkTold(t, events, pieces)
	})
}

func checkTold(t rapid.TB, events, pieces []string) {
	t.Helper()
	said := strings.Join(events, "")
	one, wantErr := told(t, pieces, false)
	all, err := told(t, pieces, true)
	if got, want := apart(all), apart(one); !slices.EqualFunc(got, want, same) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%q is told as\n%+v, %v\nand not as\n%+v, %v", events, got, err, want, wantErr)
	}
	raw, whole := rawOf(all), upTo(events)
	if err != nil { // the line end after a last comment is nobody's
		whole = strings.TrimRight(whole, "\n")
	}
	if !strings.HasPrefix(said, raw) || !strings.HasPrefix(raw, whole) {
		t.Fatalf("%q comes as %q", said, raw)
	}
}

// upTo are the bytes of the events up to the one that ends the answer, and not those of an error.
func upTo(events []string) (whole string) {
	for _, event := range events {
		if strings.HasPrefix(event, "data: !") {
			break
		}
		if whole += event; strings.HasPrefix(event, "data: .") {
			break
		}
	}
	return whole
}

func same(a, b llm.Delta) bool {
	return a.Kind == b.Kind && a.Index == b.Index && a.Text == b.Text && a.Signature == b.Signature && a.Stop == b.Stop
}

// TestBatchesHideSecrets: secrets are hidden in events that are told together, also one that is
// spread over their texts.
func TestBatchesHideSecrets(t *testing.T) {
	deltas, err := told(t, []string{"data: tIt is a-sec\n\ndata: tret-of-theirs,\n\ndata: t or a-secret-of-theirs\n\ndata: t!\n\ndata: .\n\n"}, true)
	text, raw := "", rawOf(deltas)
	for _, d := range deltas {
		text += d.Text
	}
	if err != nil || strings.Contains(text, "of-theirs") || strings.Contains(raw, "a-secret-of-theirs") || strings.Count(text, redact.Mark) != 2 {
		t.Errorf("%q and %q, %v", text, raw, err)
	}
}
