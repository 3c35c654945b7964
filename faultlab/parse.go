package faultlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxScript = 64 << 10 // bytes
	maxSteps  = 256
)

// Parse reads a script in its text form:
//
//	script   = [ item { sep item } ]              sep is a comma or a line break
//	item     = "answer" ":" text                  Answer
//	         | "slow" ":" duration ":" text       SlowAnswer
//	         | "tool" ":" [ quoted "+" ] call { "+" call }    ToolCalls, after the quoted text
//	         | "think" ":" quoted "+" item        Thinking, then an item that says something
//	         | "stall" [ ":" text ]               StallAfter
//	         | "cut" [ ":" text ]                 CutAfter
//	         | "error" [ ":" text ]               ErrorEventAfter
//	         | "end" [ ":" text ]                 EndAfter
//	         | "malformed" [ ":" text ]           Malformed
//	         | "row" ":" name                     Row
//	         | "kind" ":" name                    Kind: all its rows, one after the other
//	         | "echo"                             Echo
//	         | "hang" | "refuse" | "empty" | "html502"
//	         | status [ ":" duration ] [ ":" quoted ]    an HTTP error, with Retry-After and a body
//	call     = name [ ":" JSON object ]
//	status   = "300" … "599"                      529 is Overloaded
//	text     = quoted | anything up to the next sep, without spaces around it
//	quoted   = a string as in Go or JSON: "…"
//	duration = as in Go: 200ms, 2s, 1m30s         not negative
//
// For example:
//
//	429:2s, 503, stall:Hello wor, tool:get_weather:{"city":"Oslo"}, answer:All good
//
// A script has at most 256 steps and 64 KiB. An error names the item by its
// number, from 1.
func Parse(script string) ([]Step, error) {
	if len(script) > maxScript {
		return nil, fmt.Errorf("script: longer than %d bytes", maxScript)
	}
	var steps []Step
	p := &parser{rest: script}
	for item := 1; p.skip() != ""; item++ {
		start := p.rest
		found, err := p.items()
		if err == nil {
			err = p.separator()
		}
		if err != nil {
			return nil, fmt.Errorf("script item %d (%q): %w", item, clip(start), err)
		}
		if steps = append(steps, found...); len(steps) > maxSteps {
			return nil, fmt.Errorf("script: more than %d steps", maxSteps)
		}
	}
	return steps, nil
}

// clip shows where an item begins.
func clip(s string) string {
	const most = 40
	s, _, _ = strings.Cut(s, "\n")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// parser reads from the beginning of rest.
type parser struct{ rest string }

// skip drops space and empty lines, and returns the new rest.
func (p *parser) skip() string {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	return p.rest
}

// separator ends an item: a comma with an item after it, a line break, or the end.
func (p *parser) separator() error {
	p.rest = strings.TrimLeft(p.rest, " \t\r")
	switch {
	case p.rest == "" || p.rest[0] == '\n':
		return nil
	case p.rest[0] != ',':
		return fmt.Errorf("expected a comma before %q", clip(p.rest))
	}
	p.rest = p.rest[1:]
	if p.skip() == "" {
		return errors.New("nothing follows the last comma")
	}
	return nil
}

// until returns what comes before the first of the stop characters, and drops it.
func (p *parser) until(stops string) string {
	i := strings.IndexAny(p.rest, stops)
	if i < 0 {
		i = len(p.rest)
	}
	taken := strings.TrimSpace(p.rest[:i])
	p.rest = p.rest[i:]
	return taken
}

// accept drops c from the beginning of rest, if it is there.
func (p *parser) accept(c string) bool {
	after, ok := strings.CutPrefix(p.rest, c)
	if ok {
		p.rest = strings.TrimLeft(after, " \t")
	}
	return ok
}

var plainSteps = map[string]func() Step{
	"echo": Echo, "hang": Hang, "refuse": Refuse, "empty": Empty200, "html502": HTML502,
}

var textSteps = map[string]func(string) Step{
	"answer": Answer, "stall": StallAfter, "cut": CutAfter,
	"error": ErrorEventAfter, "end": EndAfter, "malformed": Malformed,
}

// items reads one item, which may stand for several steps.
func (p *parser) items() ([]Step, error) {
	if p.accept("kind:") {
		return Kind(p.until(",\n"))
	}
	step, err := p.item()
	return []Step{step}, err
}

func (p *parser) item() (Step, error) {
	word := p.until(":,\n")
	if build, ok := plainSteps[word]; ok {
		return build(), nil
	}
	if build, ok := textSteps[word]; ok {
		return p.textStep(word, build)
	}
	switch word {
	case "slow":
		return p.slow()
	case "tool":
		return p.tool()
	case "row":
		p.accept(":")
		return Row(p.until(",\n"))
	case "think":
		return p.think()
	}
	if code, err := strconv.Atoi(word); err == nil {
		return p.status(code)
	}
	return Step{}, fmt.Errorf("unknown step %q; there are a status such as 503, %s", clip(word), stepWords())
}

// stepWords are the words that a step can begin with.
func stepWords() string {
	words := slices.Concat(slices.Collect(maps.Keys(plainSteps)), slices.Collect(maps.Keys(textSteps)), []string{"kind", "row", "slow", "think", "tool"})
	slices.Sort(words)
	return strings.Join(words, ", ")
}

func (p *parser) textStep(word string, build func(string) Step) (Step, error) {
	if !p.accept(":") {
		if word == "answer" {
			return Step{}, errors.New("answer needs a text, as in answer:Hello")
		}
		return build(""), nil
	}
	text, err := p.text()
	return build(text), err
}

func (p *parser) text() (string, error) {
	if strings.HasPrefix(p.rest, `"`) {
		return p.quoted()
	}
	return p.until(",\n"), nil
}

// quoted reads a Go or a JSON string: the two differ in few escapes.
func (p *parser) quoted() (string, error) {
	if raw, err := p.json(); err == nil {
		var text string
		if err := json.Unmarshal([]byte(raw), &text); err == nil {
			return text, nil
		}
	}
	head, err := strconv.QuotedPrefix(p.rest)
	if err != nil {
		return "", errors.New("the quoted text has no end or an unknown escape")
	}
	p.rest = p.rest[len(head):]
	return strconv.Unquote(head)
}

// json reads one JSON value.
func (p *parser) json() (string, error) {
	decoder := json.NewDecoder(strings.NewReader(p.rest))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return "", err
	}
	p.rest = p.rest[decoder.InputOffset():]
	return string(raw), nil
}

func (p *parser) duration() (time.Duration, error) {
	word := p.until(":,\n")
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 200ms or 2s", clip(word))
	}
	return d, nil
}

func (p *parser) slow() (Step, error) {
	const usage = "slow needs a duration and a text, as in slow:200ms:Hello"
	if !p.accept(":") {
		return Step{}, errors.New(usage)
	}
	pace, err := p.duration()
	if err != nil {
		return Step{}, err
	}
	if !p.accept(":") {
		return Step{}, errors.New(usage)
	}
	text, err := p.text()
	return SlowAnswer(text, pace), err
}

func (p *parser) tool() (Step, error) {
	if !p.accept(":") {
		return Step{}, errors.New(`tool needs a name, as in tool:get_weather:{"city":"Oslo"}`)
	}
	text, err := p.lead()
	if err != nil {
		return Step{}, err
	}
	var calls []Call
	for more := true; more; more = p.accept("+") {
		c, err := p.call()
		if err != nil {
			return Step{}, err
		}
		calls = append(calls, c)
		p.rest = strings.TrimLeft(p.rest, " \t")
	}
	return ToolCalls(text, calls...), nil
}

func (p *parser) think() (Step, error) {
	if !p.accept(":") || !strings.HasPrefix(p.rest, `"`) {
		return Step{}, errors.New(`think needs a quoted thought, as in think:"Oslo is cold"+answer:Yes`)
	}
	thought, err := p.quoted()
	if err != nil {
		return Step{}, err
	}
	p.rest = strings.TrimLeft(p.rest, " \t")
	if !p.accept("+") {
		return Step{}, errors.New("a + belongs between the thought and its step")
	}
	then, err := p.item()
	if err == nil && (!then.speaks() || then.reply.thought != "") {
		err = fmt.Errorf("nothing can be thought before %q", then.Name())
	}
	return Thinking(thought, then), err
}

// lead reads the quoted text before the calls, if there is one.
func (p *parser) lead() (string, error) {
	if !strings.HasPrefix(p.rest, `"`) {
		return "", nil
	}
	text, err := p.quoted()
	if err == nil && !p.accept("+") {
		err = errors.New("a + belongs between the text and the first call")
	}
	return text, err
}

func (p *parser) call() (Call, error) {
	c := Call{Name: p.until(":+,\n")}
	if !openaiTool.MatchString(c.Name) {
		return c, fmt.Errorf("%q is not a tool's name", clip(c.Name))
	}
	if !p.accept(":") {
		return c, nil
	}
	args, err := p.json()
	if err != nil || !isObject([]byte(args)) {
		return c, fmt.Errorf("the arguments of %s are not a JSON object", c.Name)
	}
	c.Args = args
	return c, nil
}

func (p *parser) status(code int) (Step, error) {
	if code < 300 || code > 599 {
		return Step{}, fmt.Errorf("status %d is not between 300 and 599", code)
	}
	var header map[string]string
	var body string
	var err error
	more := p.accept(":")
	if more && !strings.HasPrefix(p.rest, `"`) {
		d, err := p.duration()
		if err != nil {
			return Step{}, err
		}
		header, more = retryHeader(d), p.accept(":")
	}
	if more {
		body, err = p.quoted()
	}
	step := Status(code, header, body)
	if code == overloadedStatus && body == "" {
		step = Overloaded()
		step.header = header
	}
	return step, err
}

const overloadedStatus = 529
