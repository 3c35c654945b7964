package pi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// asPi is the argument by which the test binary plays Pi. Two files follow: what it says,
// and one that has a byte for each start.
const asPi = "-play-pi"

func TestMain(m *testing.M) {
	if len(os.Args) > 4 && os.Args[1] == asPi {
		os.Exit(playPi(os.Args[2], os.Args[3], os.Args[4:]))
	}
	if command := os.Getenv(tapCommand); command != "" {
		os.Exit(tapPi(command))
	}
	os.Exit(m.Run())
}

// playPi says what a script has, one section per start. Its lines:
//
//	version 0.73.1   what it says to --version, before all sections
//	--- start        a section begins
//	> prompt         wait for a command of that type; what may follow is not looked at
//	< {…}            say a line; "@" as an id is that of the command
//	! text           say that on stderr
//	exit 3           end; without it, when it is told to or its stdin ends
func playPi(script, starts string, args []string) int {
	source, err := os.ReadFile(script)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	head, rest, _ := strings.Cut(string(source), "--- start\n")
	if len(args) == 1 && args[0] == "--version" {
		fmt.Println(strings.TrimPrefix(strings.TrimSpace(head), "version "))
		return 0
	}
	sections := strings.Split(rest, "--- start\n")
	number := 0
	if file, err := os.OpenFile(starts, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600); err == nil {
		_, _ = file.WriteString("x")
		if info, err := file.Stat(); err == nil {
			number = int(info.Size()) - 1
		}
		_ = file.Close()
	}
	stdin := bufio.NewReader(os.Stdin)
	id := ""
	for line := range strings.Lines(sections[min(number, len(sections)-1)]) {
		kind, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case ">":
			want, _, _ := strings.Cut(text, " ")
			if id = waitFor(stdin, want); id == "" {
				return 0
			}
		case "<":
			fmt.Println(strings.Replace(text, `"id":"@"`, `"id":"`+id+`"`, 1))
		case "!":
			fmt.Fprintln(os.Stderr, text)
		case "exit":
			code := 0
			_, _ = fmt.Sscan(text, &code)
			return code
		}
	}
	waitFor(stdin, "nothing")
	return 0
}

// waitFor reads commands until one is of that type, and gives its id; "" at the end.
func waitFor(stdin *bufio.Reader, kind string) string {
	for {
		line, err := stdin.ReadBytes('\n')
		if err != nil {
			return ""
		}
		var command struct{ ID, Type string }
		if json.Unmarshal(line, &command) == nil && command.Type == kind {
			return command.ID
		}
	}
}

// fake makes an engine whose Pi plays the script.
func fake(t *testing.T, script string, change ...func(*Config)) *Engine {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Command: []string{self, asPi, path, filepath.Join(dir, "starts")}, Env: []string{}, Folder: filepath.Join(dir, "agent"), ConfigDir: filepath.Join(dir, "none")}
	for _, c := range change {
		c(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := parseVersion([]byte(strings.TrimPrefix(script, "version "))); ok {
		e.version = &v // as if it had been asked: that takes a process of its own
	}
	t.Cleanup(func() {
		e.Close()
		left := 0
		for _, s := range e.sessions {
			if p := s.last(); p != nil && !procgroup.Within(p.exited, time.Second) {
				left++
			}
		}
		if left > 0 {
			t.Errorf("%d processes are left", left)
		}
	})
	return e
}
