package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented are commands of ours in blocks of code: at the beginning of a line, after a prompt or
// what is set for them.
var documented = regexp.MustCompile(`(?m)^(?:\$ )?(?:[A-Z_]+=\S+ )*mulligan ([^\n]*)$`)

// TestDocumentedCommands: every verb and flag that a page shows is one.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split(string(text), "\n```") {
			if i%2 == 0 {
				continue
			}
			for _, found := range documented.FindAllStringSubmatch(block, -1) {
				commands++
				if problem := wrongCommand(found[1]); problem != "" {
					t.Errorf("%s: mulligan %s: %s", filepath.Base(page), found[1], problem)
				}
			}
		}
	}
	if commands < 40 {
		t.Errorf("only %d commands were found", commands)
	}
}

// wrongCommand says what a command that is typed like this has that no command of ours has.
func wrongCommand(typed string) string {
	typed = regexp.MustCompile(`\s(#|\||>|<|&&|;|2>).*`).ReplaceAllString(" "+typed, "")
	args := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(typed))
	root := newRoot()
	root.InitDefaultHelpFlag()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err.Error()
	}
	if cmd != root && cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return "there is no " + cmd.CommandPath() + " " + rest[0]
	}
	cmd.InitDefaultHelpFlag()
	for _, arg := range rest {
		if arg == "--" {
			break
		}
		name, long := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if long && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
			return cmd.CommandPath() + " has no flag --" + name
		}
	}
	return ""
}

func TestWrongCommandsAreFound(t *testing.T) {
	for typed, want := range map[string]string{
		"run --auto-recover hi": "", "runs list --waiting   # what waits": "", "proxy -- claude --resume": "", "doctor | grep --color x": "",
		"completion bash": "", "run --nonsense": "no flag --nonsense", "nonsense": "unknown command", "runs nonsense": "no mulligan runs nonsense",
	} {
		got := wrongCommand(typed)
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, not %q", typed, got, want)
		}
	}
}
