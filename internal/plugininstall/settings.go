package plugininstall

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/mulligan-run/mulligan/config"
)

// A config belongs to a person: its comments, order and spacing stay as they are. So the parser
// is only used to find where an entry begins, lines are inserted and removed, and the result is
// parsed again: if it is not the old config plus the change, nothing is written.

// errByHand says that a config is written in a way that prevents changing an entry safely.
var errByHand = errors.New("mulligan.yaml is written in a way that cannot be changed without disturbing it")

// withPlugin is the config with that entry before all other plugins.
func withPlugin(source []byte, p config.Plugin) ([]byte, error) {
	before, err := config.Parse(source)
	if err != nil {
		return nil, err
	}
	want := append([]config.Plugin{p}, before.AskedPlugins()...)
	if problem := config.PluginProblem(want); problem != nil {
		return nil, errors.New(problem.Text)
	}
	at, err := findPlugins(source)
	if err != nil {
		return nil, err
	}
	f := newFile(source)
	switch {
	case at.key == 0:
		f.append(append([]string{"plugins: # asked side by side; the first in this order with an opinion wins"}, blockEntries("  ", want)...))
	case at.list == nil:
		f.insert(at.key, blockEntries("  ", want))
	case at.list.IsFlowStyle:
		start := at.list.Start.Position
		text := flowEntry(p)
		if len(at.list.Values) > 0 {
			text += ", "
		}
		f.insertText(start.Line, start.Column, text)
	default:
		dash := at.list.Entries[0].Start.Position
		f.insert(at.key, blockEntries(strings.Repeat(" ", dash.Column-1), []config.Plugin{p}))
	}
	return f.checked(before, want)
}

// withoutPlugin is the config without that plugin's entry.
func withoutPlugin(source []byte, name string) ([]byte, error) {
	before, err := config.Parse(source)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(before.Plugins, func(p config.Plugin) bool { return p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no plugin %q is configured", name)
	}
	want := slices.Delete(slices.Clone(before.Plugins), i, i+1)
	at, err := findPlugins(source)
	if err != nil {
		return nil, err
	}
	if at.list == nil || i >= len(at.list.Values) {
		return nil, errByHand
	}
	f := newFile(source)
	if at.list.IsFlowStyle {
		f.cutFlow(at.list, i)
		return f.checked(before, want)
	}
	f.cutBlock(at.list.Entries[i].Start.Position.Line, at.list.Entries[i].Start.Position.Column)
	if len(want) == 0 {
		f.lines[at.key-1] = strings.Replace(f.lines[at.key-1], "plugins:", "plugins: []", 1)
	}
	return f.checked(before, want)
}

// replacedPlugin is the config with another entry of the same name in its place.
func replacedPlugin(source []byte, old, p config.Plugin) ([]byte, error) {
	before, err := config.Parse(source)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(before.Plugins, func(q config.Plugin) bool { return q.Name == old.Name })
	if i < 0 {
		return nil, fmt.Errorf("no plugin %q is configured", old.Name)
	}
	want := slices.Clone(before.Plugins)
	want[i].Command, want[i].Folder = p.Command, p.Folder
	// The folder's name is random, so that it occurs nowhere else.
	text := bytes.Replace(source, []byte(wordList(old.Command)), []byte(wordList(p.Command)), 1)
	return newFile(bytes.ReplaceAll(text, []byte(old.Folder), []byte(p.Folder))).checked(before, want)
}

// place is where plugins are in a config.
type place struct {
	key  int               // the line of plugins:, from 1; 0 = there is none
	list *ast.SequenceNode // nil = empty
}

func findPlugins(source []byte) (at place, err error) {
	defer func() { // the parser panics on some input
		if recover() != nil {
			err = errByHand
		}
	}()
	file, err := parser.ParseBytes(source, 0)
	if err != nil || len(file.Docs) > 1 {
		return at, errByHand
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return at, nil
	}
	var values []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		if values = body.Values; body.IsFlowStyle {
			return at, errByHand
		}
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{body}
	case *ast.NullNode, *ast.CommentGroupNode:
		return at, nil
	default:
		return at, errByHand
	}
	for _, value := range values {
		if value.Key.GetToken().Value != "plugins" {
			continue
		}
		at.key = value.Key.GetToken().Position.Line
		switch list := value.Value.(type) {
		case *ast.SequenceNode:
			at.list = list
		case *ast.NullNode:
		default:
			return at, errByHand
		}
		if list := at.list; list != nil && !list.IsFlowStyle && len(list.Entries) != len(list.Values) {
			return at, errByHand
		}
	}
	return at, nil
}

// textFile is a text as lines.
type textFile struct {
	lines []string
	end   string // of a line
}

func newFile(source []byte) *textFile {
	f := &textFile{end: "\n"}
	if bytes.Contains(source, []byte("\r\n")) {
		f.end = "\r\n"
	}
	f.lines = strings.Split(strings.TrimSuffix(string(source), f.end), f.end)
	if len(source) == 0 {
		f.lines = nil
	}
	return f
}

func (f *textFile) text() []byte {
	if len(f.lines) == 0 {
		return nil
	}
	return []byte(strings.Join(f.lines, f.end) + f.end)
}

// checked is the text, if it parses as the config before with these plugins.
func (f *textFile) checked(before *config.Config, want []config.Plugin) ([]byte, error) {
	now, err := config.Parse(f.text())
	if err != nil {
		return nil, errByHand
	}
	expected := *before
	if expected.Plugins = want; len(want) == 0 {
		expected.Plugins = []config.Plugin{}
	}
	if !reflect.DeepEqual(now, &expected) {
		return nil, errByHand
	}
	return f.text(), nil
}

func (f *textFile) append(lines []string) {
	if len(f.lines) > 0 && strings.TrimSpace(f.lines[len(f.lines)-1]) != "" {
		f.lines = append(f.lines, "")
	}
	f.lines = append(f.lines, lines...)
}

// insert inserts lines after the one with that number.
func (f *textFile) insert(after int, lines []string) {
	f.lines = slices.Insert(f.lines, after, lines...)
}

// insertText inserts text after the character at that line and column.
func (f *textFile) insertText(line, column int, text string) {
	if line > len(f.lines) {
		return // checked will find that nothing changed
	}
	runes := []rune(f.lines[line-1])
	at := min(column, len(runes))
	f.lines[line-1] = string(runes[:at]) + text + string(runes[at:])
}

// cutBlock removes the entry whose dash is at that place: its line, and the lines that are indented
// more. A comment after it may be about what follows, and stays.
func (f *textFile) cutBlock(line, column int) {
	end := line
	for i := line; i < len(f.lines); i++ {
		text := strings.TrimRight(f.lines[i], " \t\r")
		inner := strings.TrimLeft(text, " ")
		if inner == "" || strings.HasPrefix(inner, "#") {
			continue
		}
		if len(text)-len(inner) < column {
			break
		}
		end = i + 1
	}
	f.lines = slices.Delete(f.lines, line-1, end)
}

// cutFlow removes the entry with that number from a list in brackets, if it is on one line.
func (f *textFile) cutFlow(list *ast.SequenceNode, i int) {
	starts := make([]int, 0, len(list.Values)+1)
	for _, value := range list.Values {
		tk := value.GetToken()
		if m, ok := value.(*ast.MappingNode); ok {
			tk = m.Start
		}
		if tk.Position.Line != list.Start.Position.Line {
			return // checked will find that it is still there
		}
		starts = append(starts, tk.Position.Column-1)
	}
	if list.End == nil || list.End.Position.Line != list.Start.Position.Line {
		return
	}
	runes := []rune(f.lines[list.Start.Position.Line-1])
	from, to := starts[i], list.End.Position.Column-1
	if i+1 < len(starts) {
		to = starts[i+1]
	} else if i > 0 {
		from = starts[i-1] + strings.LastIndexByte(string(runes[starts[i-1]:from]), ',')
	}
	f.lines[list.Start.Position.Line-1] = string(runes[:from]) + string(runes[to:])
}

// blockEntries are entries as lines. Of plugins other than ours, which were the default, only
// the name is known.
func blockEntries(indent string, plugins []config.Plugin) (lines []string) {
	for _, p := range plugins {
		if len(p.Command) == 0 {
			lines = append(lines, indent+"- "+word(p.Name))
			continue
		}
		for i, field := range fields(p) {
			lead := "  "
			if i == 0 {
				lead = "- "
			}
			lines = append(lines, indent+lead+field)
		}
	}
	return lines
}

func flowEntry(p config.Plugin) string { return "{" + strings.Join(fields(p), ", ") + "}" }

func fields(p config.Plugin) []string {
	list := []string{"name: " + word(p.Name), "command: " + wordList(p.Command), "folder: " + word(p.Folder)}
	if len(p.Occasions) > 0 {
		list = append(list, "occasions: "+wordList(p.Occasions))
	}
	return list
}

func wordList(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = word(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// plainWord is text that needs no quotes in YAML.
var plainWord = regexp.MustCompile(`^[A-Za-z/_.][A-Za-z0-9/_.@+-]*$`)

func word(text string) string {
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(text)
	}
	if plainWord.MatchString(text) && !strings.HasPrefix(text, ".") {
		return text
	}
	return strconv.Quote(text)
}
