package recovery

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// writeReleased writes all stories down as they are stored now, for the version that is to be
// released. What a release has stored is never written again:
//
//	go test ./recovery -run TestReleasedLogs -write-released 0.1.0
var writeReleased = flag.String("write-released", "", "write the logs of this version into testdata/released")

// releasedLog is a log as a version stored it, and what it amounted to: what people have seen of
// it, and what may be done about it.
type releasedLog struct {
	Name     string            `json:"name"`
	Events   []json.RawMessage `json:"events"`
	Status   Status            `json:"status"`
	Stop     string            `json:"stop,omitempty"`
	Answer   string            `json:"answer,omitempty"`
	Messages int               `json:"messages"`
	Open     bool              `json:"open,omitempty"` // a suggestion is to be answered
	Tokens   int64             `json:"tokens,omitempty"`
}

// TestReleasedLogs: what an earlier version has stored is read, and amounts to the same.
func TestReleasedLogs(t *testing.T) {
	if *writeReleased != "" {
		keepReleased(t, filepath.Join("testdata", "released", *writeReleased+".jsonl.gz"))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "released", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no logs of any version: %v", err)
	}
	for _, file := range files {
		for _, want := range readReleased(t, file) {
			t.Run(filepath.Base(file)+"/"+want.Name, func(t *testing.T) {
				got, _ := json.Marshal(releasedOf(t, want.Name, want.Events))
				if kept, _ := json.Marshal(want); !bytes.Equal(got, kept) {
					t.Errorf("it amounts to\n%s\nnot\n%s", got, kept)
				}
			})
		}
	}
}

func releasedOf(t *testing.T, name string, events []json.RawMessage) releasedLog {
	t.Helper()
	r := &Run{}
	for _, stored := range events {
		var e Event
		if err := json.Unmarshal(stored, &e); err != nil {
			t.Fatal(err)
		}
		if err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	l := releasedLog{
		Name: name, Events: events, Status: r.Status, Answer: r.Answer(), Messages: len(r.Messages), Open: r.SuggestionOpen(), Tokens: r.Usage.Total(),
	}
	if r.End != nil {
		l.Stop = r.End.StopReason
	}
	return l
}

func readReleased(t *testing.T, file string) []releasedLog {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<24)
	var all []releasedLog
	for lines.Scan() {
		var l releasedLog
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if lines.Err() != nil || len(all) < 50 {
		t.Fatalf("%s has %d logs: %v", file, len(all), lines.Err())
	}
	return all
}

func keepReleased(t *testing.T, file string) {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	all := stories(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		line, err := json.Marshal(releasedOf(t, name, goldenOf(t, play(t, all[name]()).log).Events))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := zip.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil { //nolint:gosec // there is nothing secret in it
		t.Fatal(err)
	}
}
