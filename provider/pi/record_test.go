package pi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/provider/pi/pitest"
)

// The variables by which the test binary stands between an engine and a real Pi.
const (
	tapCommand = "MULLIGAN_TEST_TAP_COMMAND" // the real Pi, a JSON list
	tapFile    = "MULLIGAN_TEST_TAP_FILE"    // gets what is said, as pitest reads it
)

// tapPi runs the real Pi and writes down what the two say.
func tapPi(command string) int {
	var argv []string
	if err := json.Unmarshal([]byte(command), &argv); err != nil || len(argv) == 0 {
		return 9
	}
	argv = append(argv, os.Args[1:]...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		cmd.Stdout = os.Stdout
		return exitCode(cmd.Run())
	}
	file, err := os.OpenFile(os.Getenv(tapFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 9
	}
	var writing sync.Mutex
	write := func(line string) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = file.WriteString(line + "\n")
	}
	write("--- start")
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		return 9
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	go pass(os.Stdin, stdin, func(line []byte) {
		var c struct{ Type, Message string }
		_ = json.Unmarshal(line, &c)
		write(strings.TrimSpace("> " + c.Type + " " + c.Message))
	})
	pass(stdout, os.Stdout, func(line []byte) { write("< " + scrub(line)) })
	return exitCode(cmd.Wait())
}

func exitCode(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

func pass(from io.Reader, to io.WriteCloser, each func(line []byte)) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			each(bytes.TrimSuffix(line, []byte("\n")))
			_, _ = to.Write(line)
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
}

var scrubs = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`"id":"\d{1,4}"`), `"id":"@"`}, // of a response: no other is a small number
	{regexp.MustCompile(`"timestamp":(\d+|"[^"]*")`), `"timestamp":0`},
	{regexp.MustCompile(`"(durationMs|wall_time_seconds)":[0-9.]+`), `"$1":1`},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), `127.0.0.1:1`},
	{regexp.MustCompile(`/(?:tmp|var|home|private|Users)/[\w./@-]+`), `/somewhere`},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), `00000000-0000-0000-0000-000000000000`},
}

// scrub takes out of a line what is of one machine and one moment, and Pi's instructions to
// its model.
func scrub(line []byte) string {
	if bytes.Contains(line, []byte(`"role":"system"`)) {
		var document any
		if json.Unmarshal(line, &document) == nil {
			withoutSystem(document)
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(document)
			line = bytes.TrimSpace(b.Bytes())
		}
	}
	text := string(line)
	for _, s := range scrubs {
		text = s.what.ReplaceAllString(text, s.with)
	}
	return text
}

func withoutSystem(value any) {
	switch v := value.(type) {
	case map[string]any:
		if v["role"] == "system" {
			delete(v, "sections")
			delete(v, "toolsAdded")
			v["content"] = "…"
		}
		for _, inner := range v {
			withoutSystem(inner)
		}
	case []any:
		for _, inner := range v {
			withoutSystem(inner)
		}
	}
}

// generations are the Pis that are recorded, by the variable that holds how each is
// started: a command and its arguments, with spaces between them.
var generations = map[string]string{"0.73": "MULLIGAN_PI_OLD", "1.5": "MULLIGAN_PI_NEW"}

// recordRow plays a row with the real Pi, and keeps what it said.
func recordRow(t *testing.T, generation string, r row, file string) {
	t.Helper()
	command := strings.Fields(os.Getenv(generations[generation]))
	if len(command) == 0 {
		t.Fatalf("%s does not say how Pi %s is started", generations[generation], generation)
	}
	lab := faultlab.New(faultlab.WithPace(0))
	for model, script := range r.scripts() {
		steps, err := faultlab.Parse(script)
		if err != nil {
			t.Fatal(err)
		}
		lab.Script(model, steps...)
	}
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	defer lab.Close()
	dir := t.TempDir()
	person := filepath.Join(dir, "person")
	if err := os.MkdirAll(person, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(person, modelsFile), pitest.Models(server.URL()), 0o600); err != nil {
		t.Fatal(err)
	}
	tap := filepath.Join(dir, "tap")
	argv, _ := json.Marshal(command)
	t.Setenv(tapCommand, string(argv))
	t.Setenv(tapFile, tap)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Config{
		Command: []string{self}, Env: []string{tapCommand, tapFile}, Retries: r.retries,
		Folder: filepath.Join(dir, "agent"), ConfigDir: person, Dir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	v, err := e.ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tell := r.play(t, e)
	e.Close()
	said, err := os.ReadFile(tap)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "version %s\n%s", v, said), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s:\n%s", file, tell)
}
