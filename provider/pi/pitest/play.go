package pitest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// asPi is the argument by which a test binary plays Pi. Two files follow, and then Pi's own
// arguments.
const asPi = "-play-pi"

// Command is what starts a Pi that plays the script; program is the test's binary, or one
// that is nothing but Main. place is a file, not there at first, in which the processes that follow each
// other note how far they came.
func Command(program, script, place string) []string { return []string{program, asPi, script, place} }

// Main plays Pi if the arguments of the program say so, and gives the code to exit with.
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

// player says what a script has. The script's lines:
//
//	version 0.73.1   what it says to --version, before all sections
//	--- start        a section begins
//	> prompt         wait for a command of that type; what may follow is not looked at
//	< {…}            say a line; "@" as an id is that of the command
//	! text           say that on stderr
//	exit 3           end; without it, when it is told to or its stdin ends
//
// The first process plays the first section. Each that follows goes on where Pi is asked
// next what it knows, in what is left of the section; if it is not, in the next section, or
// else in the same once more.
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
			_, _ = fmt.Fprintln(p.out, strings.Replace(text, `"id":"@"`, `"id":"`+p.id+`"`, 1)) // nobody may hear it any more
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

// keep notes where this process is, in one step: it may be killed at any moment.
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
		return 0, 0 // the first
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
