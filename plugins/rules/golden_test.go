package rules

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/*.golden and docs/rules.md anew")

// TestErrors compares what is said about each wrong file with its golden text.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parseRules(filepath.Base(file), text)
		problems := Problems(nil)
		if !errors.As(err, &problems) {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var said []string
		for _, p := range problems {
			said = append(said, p.Error())
		}
		golden(t, strings.TrimSuffix(file, ".yaml")+".golden", strings.Join(said, "\n")+"\n")
	}
}

// golden compares text with a file, or writes it.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s is not what is said now; go test -run %s -rewrite writes it. Now:\n%s", file, t.Name(), text)
	}
}

// TestPlaces finds every character of a text in the file that it is written in.
func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		text string
		want string // the characters of the file at each character of text; _ stands for a space or line's end
	}{
		"plain":          {`a ü "b"`, `a ü "b"`, `a_ü_"b"`},
		"folded plain":   {"one\n      two", "one two", "one_two"},
		"single":         {`'it''s é'`, `it's é`, `it's_é`},
		"double":         {`"a\"\u00fc\x41b\n c"`, "a\"üAb\n c", `a\\\b\_c`},
		"two halves":     {`"\ud83d\ude00x"`, "😀x", `\x`},
		"continued":      {"\"a \\\n      b\"", "a b", `a_b`},
		"folded double":  {"\"a\n\n      b\"", "a\nb", "a_b"},
		"literal":        {"|\n      a\n        b\n", "a\n  b\n", "a___b_"},
		"folded":         {">-\n      a\n      b\n\n      c", "a b\nc", "a_b_c"},
		"with a comment": {"| # why\n      a b", "a b", "a_b_"},
	} {
		text := "rules:\n  - reason: " + c.yaml + "\n"
		s := newSource("f", []byte(text))
		_, file, err := parseYAML("f", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := &reader{src: s}
		root, _ := r.mapping(file.Docs[0].Body, "file", "rules")
		rule, _ := r.mapping(r.list(root.by["rules"], "rules", 1)[0], "rule", "reason")
		got, _ := r.scalar(rule.by["reason"], "reason")
		if strings.TrimRight(got.text, "\n") != strings.TrimRight(c.text, "\n") {
			t.Errorf("%s: %q, not %q", name, got.text, c.text)
			continue
		}
		var seen strings.Builder
		for i := range []rune(got.text) {
			at := s.placeIn(got, i)
			line := slices.Concat(s.lines[at.line-1], []rune{'_'})
			if r := line[min(at.column-1, len(line)-1)]; r == ' ' {
				seen.WriteRune('_')
			} else {
				seen.WriteRune(r)
			}
		}
		if seen.String() != c.want {
			t.Errorf("%s: %q, not %q", name, seen.String(), c.want)
		}
	}
}
