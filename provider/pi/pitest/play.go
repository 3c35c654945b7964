package pitest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// asPi is the argument that makes a test binary play Pi. Two files follow, and then Pi's own
// arguments.
const asPi = "-play-pi"

// Command is the command that starts a Pi that plays the script. program is the test's binary, or a
// program that only calls Main. place is a file, which does not exist at first, in which successive
// processes record how far they got.
func Command(program, script, place string) []string { return []string{program, asPi, script, place} }

// Main plays Pi if the program's arguments say so, and gives the exit code.
func Main(args []string) (code int, is bool) {
	if len(args) < 5 || args[1] != asPi {
		return 0, false
	}
	p := &player{place: args[3], in: bufio.NewReader(os.Stdin), out: os.Stdout, errs: os.Stderr}
	code, err := p.play(args[2], args[4:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 9
	}
	return code, true
}

// player plays a script. The script's lines:
//
//	version 0.73.1   what it says to --version, before all sections
//	--- start        a section begins
//	> prompt         wait for a command of that type; what may follow is not looked at
//	< {…}            say a line; "@" as an id is that of the command
//	! text           say that on stderr
//	exit 3           end; without it, when it is told to or its stdin ends
//
// The first process plays the first section. Each later process continues in the rest of the
// section, at the next point where Pi is asked what it knows. If there is none, it plays the next
// section or, if that was the last, the same section once more.
type player struct {
	place     string
	in        *bufio.Reader
	out, errs io.Writer
	id        string // of the last command
}

const knows = "> get_messages"

func (p *player) play(script string, args []string) (code int, err error) {
	source, err := os.ReadFile(script)
	if err != nil {
		return 0, err
	}
	head, rest, _ := strings.Cut(string(source), "--- start\n")
	if len(args) == 1 && args[0] == "--version" {
		_, err := fmt.Fprintln(p.out, strings.TrimPrefix(strings.TrimSpace(head), "version "))
		return 0, err
	}
	sections := strings.Split(rest, "--- start\n")
	section, line := p.begin(sections)
	lines := strings.Split(strings.TrimSuffix(sections[section], "\n"), "\n")
	for ; line < len(lines); line++ {
		kind, text, _ := strings.Cut(lines[line], " ")
		if kind == ">" || kind == "exit" {
			if err := p.keep(section, line); err != nil {
				return 0, err
			}
		}
		switch kind {
		case ">":
			want, _, _ := strings.Cut(text, " ")
			if !p.waitFor(want) {
				return 0, nil
			}
		case "<":
			_, _ = fmt.Fprintln(p.out, strings.Replace(text, `"id":"@"`, `"id":"`+p.id+`"`, 1)) // nobody may be reading any more
		case "!":
			_, _ = fmt.Fprintln(p.errs, text)
		case "exit":
			_, err := fmt.Sscan(text, &code)
			return code, err
		}
	}
	p.waitFor("nothing")
	return 0, nil
}

// keep records, in one step, where this process is: it may be killed at any moment.
func (p *player) keep(section, line int) error {
	next := p.place + ".next"
	if err := os.WriteFile(next, fmt.Append(nil, section, line), 0o600); err != nil {
		return err
	}
	return os.Rename(next, p.place)
}

// begin is the section and the line where this process begins.
func (p *player) begin(sections []string) (section, line int) {
	text, err := os.ReadFile(p.place)
	if err != nil {
		return 0, 0 // the first process
	}
	if _, err := fmt.Sscan(string(text), &section, &line); err != nil || section >= len(sections) {
		return 0, 0
	}
	for i, text := range strings.Split(sections[section], "\n") {
		if i >= line && text == knows {
			return section, i
		}
	}
	return min(section+1, len(sections)-1), 0
}

// waitFor reads commands until one is of that type, and reports whether there was one.
func (p *player) waitFor(kind string) bool {
	for {
		line, err := p.in.ReadBytes('\n')
		if err != nil {
			return false
		}
		var command struct{ ID, Type string }
		if json.Unmarshal(line, &command) == nil && command.Type == kind {
			p.id = command.ID
			return true
		}
	}
}
