package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// steering is text that terminals obey: every way to begin a sequence, with what may
// follow, also as characters that Markdown makes out of their numbers.
func steering() []string {
	var list []string
	bodies := []string{
		"]52;c;aGVsbG8=\a", "]52;c;aGVsbG8=\x1b\\", "]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "]0;title\a", "]2;title\x1b\\",
		"]4;1;rgb:00/00/00\a", "]10;#000000\a", "]1337;File=inline=1:AAAA\a", "]777;notify;a;b\a", "[2J", "[H", "[1;1H", "[3J", "[K", "[?1049l",
		"[?25l", "[?1000h", "[6n", "[c", "[21t", "[>4;2m", "[5i", "[!p", "P+q544e\x1b\\", "Pq#0;2;0;0;0\x1b\\", "_Gf=24;AAAA\x1b\\", "^private\x1b\\", "c", "(0", "#8", "7", "8",
	}
	for _, body := range bodies {
		list = append(list, "\x1b"+body)
		for _, escape := range []string{"&#27;", "&#x1b;", "&#X1B;", "&#0027;"} {
			list = append(list, escape+body)
		}
	}
	for c := range 32 {
		if c != '\n' && c != '\t' {
			list = append(list, string(rune(c)), fmt.Sprintf("&#%d;x", c))
		}
	}
	for _, c := range []rune{0x7f, 0x9b, 0x9d, 0x90, 0x202a, 0x202e, 0x2066, 0x2069, 0x200e, 0x200f, 0x061c} {
		list = append(list, string(c)+"2J", fmt.Sprintf("&#x%x;2J", c), fmt.Sprintf("&#%d;2J", c))
	}
	return append(list, "\x9b2J", "\xff\xfe", "[text](javascript:alert`\x1b[2J`)", "![i](https://evil.example/\x1b]8;;x\a)", "<a href='x'>\x1b[2J</a>", "`\x1b[2J`")
}

var style = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// TestS33NothingSteersTheTerminal: whatever models, providers, plugins and tools write, the
// frame has no control sequence but those of colours and styles.
func TestS33NothingSteersTheTerminal(t *testing.T) {
	corpus := steering()
	if len(corpus) < 200 {
		t.Fatalf("only %d texts", len(corpus))
	}
	if testing.Short() {
		t.Run("the other half of each", func(t *testing.T) { t.Skip("it takes 5 s with the race detector") })
	}
	for _, colour := range []bool{true, false} {
		s := newScene(t, 80, 60)
		s.chat.cfg.NoColor = !colour
		s.chat.Update(tea.WindowSizeMsg{Width: 80, Height: 60})
		for i, text := range corpus {
			if testing.Short() && (i%2 == 0) == colour {
				continue // half of the texts in colour, the others without
			}
			s.showsEverywhere(text)
		}
	}
}

// showsEverywhere shows a text everywhere where somebody else's text is shown.
func (s *scene) showsEverywhere(text string) {
	s.Helper()
	failure := *failure.NewFailure(failure.KindUnavailable, failure.OriginModel, failure.PhaseMidStream, nil)
	failure.Title, failure.Message, failure.Detail, failure.RequestID, failure.Model = text, text, text, text, text
	one := newTurn(text)
	one.view.State = recovery.Run{Seq: 1, Open: &recovery.OpenFailure{Failure: failure}}
	one.pieces = append(one.pieces,
		&piece{kind: pieceTool, call: &call{name: text, says: text, state: "failed"}},
		&piece{kind: pieceNote, text: text},
		&piece{kind: pieceRecovered, text: text, tried: []triedFailure{{failure: failure, model: text}}},
		&piece{kind: pieceAnswer, text: text + " and\n\n- " + text + "\n\n```\n" + text + "\n```\n\n> " + text, model: text})
	card := situation{
		buttons: []recovery.Button{{Label: text, Model: text}, {Kind: text}},
		card: &recovery.Card{
			Title: text, Message: text, Tried: text, Why: text, Limit: text, Call: &llm.ToolCall{Name: text, Args: []byte(text)},
		},
	}
	c := s.chat
	c.turns, c.details, c.notice, c.standard = []*turn{one}, true, "", text
	c.pen.room = 40
	lines := c.pen.suggestion(one, card)
	lines = append(lines, c.pen.status(situation{state: recovery.StateOnline, line: text})...)
	lines = append(lines, c.pen.menu(&menu{title: text, models: []string{text}})...)
	c.complain(fmt.Errorf("broken: %s", text))
	c.queued = text
	lines = append(lines, c.View().Content, c.View().WindowTitle)
	c.tellRuns([]client.Listed{{Title: text, Session: text, Status: recovery.Status(text)}})
	lines = append(lines, c.View().Content)
	c.page, c.queued = nil, ""
	for _, row := range strings.Split(strings.Join(lines, "\n"), "\n") {
		if plain := style.ReplaceAllString(row, ""); plain != terminal.Printable(plain, false) {
			s.Errorf("%q steers the terminal: %q", text, row)
			return
		}
	}
}
