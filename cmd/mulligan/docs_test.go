package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented finds our commands in code blocks: at the beginning of a line, after a prompt or after
// the variables that are set for them.
var documented = regexp.MustCompile(`(?m)^(?:\$ )?(?:[A-Z_]+=\S+ )*mulligan ([^\n]*)$`)

// documentedCommands are those of all pages, and where each is.
func documentedCommands(t *testing.T) map[string]string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]string{}
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
				commands[found[1]] = filepath.Base(page)
			}
		}
	}
	if len(commands) < 40 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	return commands
}

// TestDocumentedCommands: every verb and flag that a page shows is one.
func TestDocumentedCommands(t *testing.T) {
	for typed, page := range documentedCommands(t) {
		if problem := wrongCommand(typed); problem != "" {
			t.Errorf("%s: mulligan %s: %s", page, typed, problem)
		}
	}
}

// afterwards is what follows the command and is the shell's own: a comment, a pipe, a redirection.
var afterwards = regexp.MustCompile(`\s(#|\||>|<|&&|;|2>).*`)

// wrongCommand names the verb or flag of a typed command that does not exist; "" if all do.
func wrongCommand(typed string) string {
	typed = afterwards.ReplaceAllString(" "+typed, "")
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

// played are commands in stories, and in tests of other rooms that start the program.
var played = regexp.MustCompile(`(?m)(?:^|\s)mulligan ([^\n]*)$`)

// playedBy has the verbs and flags that no story runs, each with the name of the test that does.
var playedBy = map[string]string{"mulligan chat": "TestChat", "mulligan serve --open": "TestServeOpens"}

// TestDocumentedCommandsAreRun: a story runs every verb that a page shows, with each of the flags that
// are shown with it, or another test does that is named here.
func TestDocumentedCommandsAreRun(t *testing.T) {
	run := map[string]bool{}
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tests {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part, test := range playedBy {
			run[part] = run[part] || strings.Contains(string(text), "\nfunc "+test+"(t *testing.T)")
		}
	}
	stories, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	inDatabases, err := filepath.Glob("testdata/store/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range append(stories, inDatabases...) {
		text, err := os.ReadFile(story)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range played.FindAllStringSubmatch(string(text), -1) {
			for _, part := range partsOf(found[1]) {
				run[part] = true
			}
		}
	}
	shown := documentedCommands(t)
	for typed, page := range shown {
		for _, part := range partsOf(typed) {
			if !run[part] {
				t.Errorf("%s shows mulligan %s, and no test runs %s", page, typed, part)
			}
		}
	}
}

// partsOf are the verb that is typed, and the verb with each of its flags.
func partsOf(typed string) (parts []string) {
	typed = afterwards.ReplaceAllString(" "+typed, "")
	args := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(typed))
	cmd, rest, err := newRoot().Find(args)
	if err != nil {
		return nil
	}
	parts = []string{cmd.CommandPath()}
	for _, arg := range rest {
		if arg == "--" {
			break
		}
		if flag, long := strings.CutPrefix(arg, "--"); long {
			flag, _, _ = strings.Cut(flag, "=")
			parts = append(parts, cmd.CommandPath()+" --"+flag)
		}
	}
	return parts
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

// TestTablesOfPages: each row of a page's table is below the table's head, which a blank line would cut it off from.
func TestTablesOfPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`^\|[ :|-]+\|$`)
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines, code := strings.Split(string(text), "\n"), false
		for i, line := range lines {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			begins := !code && strings.HasPrefix(line, "|") && (i == 0 || !strings.HasPrefix(lines[i-1], "|"))
			if begins && !head.MatchString(lines[i+1]) {
				t.Errorf("%s, line %d: a table begins without a head: %.60s", filepath.Base(page), i+1, line)
			}
		}
	}
}
