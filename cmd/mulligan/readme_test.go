package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// TestReadmeCompiles checks the programs of the README as the go command sees them
// in this module, and that they are as short as it says: 15 lines in main.
func TestReadmeCompiles(t *testing.T) {
	for i, program := range readmePrograms(t) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			if n := statements(program); n > 15 {
				t.Errorf("%d lines in main", n)
			}
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			vet := exec.Command("go", "vet", file)
			vet.Dir = "../.."
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestReadmeEmbedderRecovers runs the README's embedder on a computer where no program is
// installed: its model fails once, and it has its answer all the same.
func TestReadmeEmbedderRecovers(t *testing.T) {
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	lab.Script("claude-sonnet-4-5", faultlab.Unavailable(), faultlab.Answer("A second shot."))
	entry := func(name string) string {
		return fmt.Sprintf("{Name: %q, Type: \"openai\", BaseURL: %q, Key: \"sk-test\"}", name, server.URL()+"/v1")
	}
	program := strings.Replace(readmePrograms(t)[1], "provider.Defaults()",
		"[]provider.Entry{"+entry("anthropic")+", "+entry("openai")+"}", 1)
	dir := t.TempDir()
	file, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "embedder")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, file)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), exe)
	run.Dir, run.Env = dir, []string{"HOME=" + dir, "PATH=" + dir}
	if out, err := run.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "A second shot. <nil>" {
		t.Errorf("%v\n%s", err, out)
	}
}

// readmePrograms are the Go programs of the README.
func readmePrograms(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for _, found := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		programs = append(programs, found[1])
	}
	if len(programs) < 2 {
		t.Fatalf("%d programs in the README", len(programs))
	}
	return programs
}

// statements counts the lines of main, without its braces.
func statements(program string) int {
	_, body, _ := strings.Cut(program, "\n)\n")
	n := 0
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && line != "}" && line != "func main() {" {
			n++
		}
	}
	return n
}
