package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCompiles checks the programs of the README as the go command sees them
// in this module, and that they are as short as it says: 15 lines in main.
func TestReadmeCompiles(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(programs) < 2 {
		t.Fatalf("%d programs in the README", len(programs))
	}
	for i, program := range programs {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			if n := statements(program[1]); n > 15 {
				t.Errorf("%d lines in main", n)
			}
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(program[1]), 0o600); err != nil {
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
