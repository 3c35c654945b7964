package recovery

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// timelines is where the golden logs are that every fold, in every language, replays.
const timelines = "../sdk/conformance/timelines"

// goldenLog is a log in its stored form with what it amounts to after each event.
type goldenLog struct {
	Events []json.RawMessage `json:"events"`
	Views  []goldenView      `json:"views"`
}

// goldenView is what clients show of a run.
type goldenView struct {
	Situation *Situation   `json:"situation,omitempty"` // where it is another one than before
	Asked     string       `json:"asked"`               // the model
	Text      string       `json:"text"`
	Model     string       `json:"model"` // that wrote it
	Partial   bool         `json:"partial"`
	Truncated bool         `json:"truncated"`
	Error     failure.Code `json:"error"`
	Tokens    int64        `json:"tokens"`
	Wasted    int64        `json:"wasted"`
}

func viewOf(r *Run) goldenView {
	v := goldenView{
		Asked: r.Model, Text: r.Answer(), Truncated: r.Truncated(),
		Tokens: r.Usage.Total(), Wasted: r.Wasted.Total(),
	}
	if n := len(r.Messages); v.Text != "" && n > 0 {
		v.Model = r.Messages[n-1].Model
	}
	if a := r.Attempt; a != nil && a.Text != "" {
		v.Model, v.Partial = a.Model, true
	}
	if f := r.Failure(); f != nil {
		v.Error = f.Code
	}
	return v
}

// TestTimelines holds the golden logs against the fold. They are the stories of testdata,
// in the form in which clients get them; with -rewrite they are made anew.
func TestTimelines(t *testing.T) {
	for name, w := range stories(t) {
		t.Run(name, func(t *testing.T) {
			data := marshalGolden(t, goldenOf(t, play(t, w()).log))
			path := filepath.Join(timelines, name+".json")
			if *rewrite {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, want) {
				t.Errorf("the fold of %s is another one (go test -run Timelines -rewrite writes it down)", path)
			}
		})
	}
}

// goldenOf folds a log; its events get the words that the toy shell leaves out.
func goldenOf(t *testing.T, log [][]byte) goldenLog {
	t.Helper()
	var g goldenLog
	r := &Run{}
	var said *Situation
	for _, stored := range log {
		var e Event
		if err := json.Unmarshal(stored, &e); err != nil {
			t.Fatal(err)
		}
		if f, ok := e.Body.(Failed); ok && f.Failure.Title == "" {
			f.Failure.Describe(failure.Words{})
			e.Body = f
		}
		e.Text = Line(r, e.Body)
		if err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		v := viewOf(r)
		if now := r.Situation(); said == nil || !same(&now, said) {
			v.Situation, said = &now, &now
		}
		g.Events, g.Views = append(g.Events, data), append(g.Views, v)
	}
	return g
}

// marshalGolden puts each event, and each view, on a line.
func marshalGolden(t *testing.T, g goldenLog) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("{\"events\":[\n")
	for i, e := range g.Events {
		b.Write(e)
		b.WriteString(comma(i, len(g.Events)))
	}
	b.WriteString("],\"views\":[\n")
	for i, v := range g.Views {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
		b.WriteString(comma(i, len(g.Views)))
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

func comma(i, n int) string {
	if i < n-1 {
		return ",\n"
	}
	return "\n"
}
