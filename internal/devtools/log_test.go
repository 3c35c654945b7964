package devtools

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

func logged(n int) string {
	return fmt.Sprintf(`{"time":"2026-01-02T03:04:05Z","level":"INFO","msg":"%d"}`, n)
}

func said(lines []LogLine) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.msg)
	}
	return strings.Join(all, " ")
}

// TestALogIsFollowedAcrossRotations writes and rotates the log as hosts do.
func TestALogIsFollowedAcrossRotations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	write := func(to string, lines ...int) {
		t.Helper()
		var b bytes.Buffer
		for _, n := range lines {
			fmt.Fprintln(&b, logged(n))
		}
		f, err := os.OpenFile(to, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(b.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(got []LogLine, want string) {
		t.Helper()
		if said(got) != want {
			t.Errorf("read %q, want %q", said(got), want)
		}
	}
	l := &LogFile{plugin: "x", path: path}
	defer CloseLogs([]*LogFile{l})
	expect(l.History(), "")
	write(path+".2", 1)
	write(path+".1", 2)
	write(path, 3)
	expect((&LogFile{plugin: "x", path: path}).History(), "1 2 3")
	expect(l.news(), "3")
	write(path, 4)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write(path+".1", 5) // by a host that has not noticed the rotation
	write(path, 6)
	expect(l.news(), "4 5 6")
	expect(l.news(), "")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	half := logged(7)
	_, _ = f.WriteString(half[:20])
	expect(l.news(), "")
	_, _ = f.WriteString(half[20:] + "\n")
	expect(l.news(), "7")
	_, _ = f.WriteString(strings.Repeat("a", maxLogLine+3) + "\n")
	if got := l.news(); len(got) != 2 || len(got[0].msg) != maxLogLine || got[1].msg != "aaa" {
		t.Errorf("a line without end: %d pieces", len(got))
	}
}

// FuzzLogLine renders untrusted lines.
func FuzzLogLine(f *testing.F) {
	for _, seed := range []string{
		logged(1), "\x1b[2J", `{"msg":"\u001b[31m","level":"\u0007","pl\u009bugin":"\u202e"}`, `{"time":7,"level":["x"],"msg":{}}`, "{",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l := parseLine("x", line)
		for _, r := range l.text(false) {
			if unicode.IsControl(r) {
				t.Fatalf("%q reaches the terminal", r)
			}
		}
		l.fields()
	})
}
