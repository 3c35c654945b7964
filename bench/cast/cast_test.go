package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const picture = "../../docs/demo.svg"

// words are the lines of text in a picture.
func words(t *testing.T, svg string) (rows []string) {
	t.Helper()
	for decoder, inside := xml.NewDecoder(strings.NewReader(svg)), false; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text" || inside && token.Name.Local == "animate"
		case xml.EndElement:
			inside = inside && token.Name.Local == "animate"
		case xml.CharData:
			if inside {
				rows = append(rows, string(token))
			}
		}
	}
}

func TestDraw(t *testing.T) {
	long := "→ " + strings.Repeat("word ", 40)
	svg := draw([]line{{0, "$ a <b> & c"}, {time.Second, ""}, {2 * time.Second, long}})
	rows := words(t, svg)
	if rows[0] != "$ a <b> & c" || strings.Join(strings.Fields(strings.Join(rows[1:], " ")), " ") != strings.TrimSpace(long) {
		t.Errorf("%q", rows)
	}
	for _, row := range rows {
		if len([]rune(row)) > columns {
			t.Errorf("%q is too wide", row)
		}
	}
	if got := settled("  plugin    auto-recover (devel), process 12 (this one is 9) at 127.0.0.1:3"); got != "  plugin    auto-recover, process 4711 (this one is 4702) at 127.0.0.1:41000" {
		t.Errorf("%q", got)
	}
}

var seconds = regexp.MustCompile(`\d+ m?s\b`)

// TestThePictureIsTrue: docs/demo.svg shows what the demo prints today, apart from how long it
// took.
func TestThePictureIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("plays the demo, which takes its time")
	}
	program := filepath.Join(t.TempDir(), "mulligan")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/mulligan")
	build.Dir = "../.."
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	lines, err := record(t.Context(), program, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	said := func(svg string) string {
		return seconds.ReplaceAllString(strings.Join(strings.Fields(strings.Join(words(t, svg), " ")), " "), "some time")
	}
	if want, got := said(draw(lines)), said(string(kept)); got != want {
		t.Errorf("run `make demo-svg`: the demo says\n%s\nand the picture\n%s", want, got)
	}
}
