package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Mood is how a row of a [Board] is drawn; its words say the same.
type Mood int

// The moods of a run.
const (
	MoodPlain Mood = iota
	MoodAsks       // it waits for a person
	MoodBusy
	MoodBad
	MoodGood
)

// Board is the content of a table that changes, at one time.
type Board struct {
	Title string
	Head  []string
	Rows  []BoardRow
	Below BoardBelow
	// HintNames says that the hints tell what the first column does, which is left out where the others
	// have no room beside it.
	HintNames bool
}

// BoardBelow is a smaller table below that of a [Board], none of whose rows can be chosen. It is left
// out where it has no rows, or the screen has no room for both.
type BoardBelow struct {
	Title string
	Head  []string
	Rows  []BelowRow // those that matter most first: what the screen has no room for is left out
	Hint  string     // what can be typed to see all of them
}

// BelowRow is one of its rows.
type BelowRow struct {
	Cells []string
	Note  string // "" = nothing is to be said about it
	Mood  Mood   // of the note
}

// BoardRow is one row. The last cell gets the width that the others leave.
type BoardRow struct {
	ID    string
	Cells []string
	Mood  Mood
	Hint  string // the command to type about it
}

// BoardConfig configures a board.
type BoardConfig struct {
	Load    func(ctx context.Context, asking bool) (Board, error) // asking = only what waits for a person
	Every   time.Duration                                         // time between two loads
	NoColor bool
}

// RunBoard shows a board in this terminal until the person leaves or ctx ends, neither of which
// is an error.
func RunBoard(ctx context.Context, cfg BoardConfig) error {
	return show(ctx, newBoard(ctx, cfg), cfg.NoColor)
}

// board is the program: a tea.Model.
type board struct {
	cfg           BoardConfig
	ctx           context.Context
	width, height int
	look          look
	shown         Board
	trouble       string
	asking        bool
	chosen        string // the id of the selected row; "" = the first
	top           int    // the first row on the screen
	loaded        bool
}

func newBoard(ctx context.Context, cfg BoardConfig) *board {
	return &board{cfg: cfg, ctx: ctx, width: 80, height: 24, look: newLook(true, !cfg.NoColor)}
}

// looked is the result of a load, of all rows or of those that wait for a person.
type looked struct {
	board  Board
	err    error
	asking bool
}

type lookAgain struct{}

func (b *board) load() tea.Msg {
	asking := b.asking
	shown, err := b.cfg.Load(b.ctx, asking)
	return looked{shown, err, asking}
}

// Init asks for the background colour, and loads for the first time.
func (b *board) Init() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, b.load) }

// Update handles a message.
func (b *board) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		b.width, b.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		b.look = newLook(msg.IsDark(), !b.cfg.NoColor)
	case lookAgain:
		return b, b.load
	case looked:
		b.see(msg)
		return b, tea.Tick(b.cfg.Every, func(time.Time) tea.Msg { return lookAgain{} })
	case outOfTurn:
		b.see(looked(msg))
	case tea.KeyPressMsg:
		return b, b.press(msg.String())
	}
	return b, nil
}

// see takes the result of a load, unless the person has switched what to load
// meanwhile.
func (b *board) see(l looked) {
	if l.asking != b.asking {
		return
	}
	b.trouble = ""
	if l.err != nil {
		b.trouble = line(l.err.Error())
		return
	}
	b.shown, b.loaded = l.board, true
}

func (b *board) press(key string) tea.Cmd {
	at := b.at()
	page := max(1, b.rows())
	switch key {
	case "q", "esc", "ctrl+c":
		return tea.Quit
	case "n":
		b.asking, b.chosen, b.top = !b.asking, "", 0
		return b.once()
	case "up", "k":
		b.choose(at - 1)
	case "down", "j":
		b.choose(at + 1)
	case "pgup":
		b.choose(at - page)
	case "pgdown":
		b.choose(at + page)
	case "home", "g":
		b.choose(0)
	case "end", "G":
		b.choose(len(b.shown.Rows) - 1)
	}
	return nil
}

// once loads now, in addition to the regular loads.
func (b *board) once() tea.Cmd {
	return func() tea.Msg {
		l, _ := b.load().(looked)
		return outOfTurn(l)
	}
}

type outOfTurn looked

// at is the number of the selected row.
func (b *board) at() int {
	for i, row := range b.shown.Rows {
		if row.ID == b.chosen {
			return i
		}
	}
	return 0
}

func (b *board) choose(i int) {
	if i = min(max(0, i), len(b.shown.Rows)-1); i >= 0 {
		b.chosen = b.shown.Rows[i].ID
	}
}

// rows is how many rows the screen has room for.
func (b *board) rows() int { return max(1, b.height-5-len(b.below())) }

// View draws the screen.
func (b *board) View() tea.View {
	at, room := b.at(), b.rows()
	b.top = min(max(b.top, at-room+1), at)
	b.top = max(0, min(b.top, len(b.shown.Rows)-room))
	lines := []string{b.look.bold.Render(clip(b.shown.Title, b.width)), ""}
	first := b.firstColumn()
	widths := b.widths(b.shown.Head[first:], b.rowCells(first))
	lines = append(lines, b.look.dim.Render(clip("  "+cells(b.shown.Head[first:], widths), b.width)))
	for i := b.top; i < min(b.top+room, len(b.shown.Rows)); i++ {
		row := b.shown.Rows[i]
		mark := "  "
		if i == at {
			mark = "❯ "
		}
		lines = append(lines, b.mood(row.Mood).Render(clip(mark+cells(row.Cells[first:], widths), b.width)))
	}
	if len(b.shown.Rows) == 0 && b.loaded {
		lines = append(lines, b.look.dim.Render(clip("  "+b.nothing(), b.width)))
	}
	below := b.below()
	for len(lines) < b.height-2-len(below) {
		lines = append(lines, "")
	}
	lines = append(lines, below...)
	lines = append(lines, b.foot(at)...)
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}

func (b *board) nothing() string {
	if b.asking {
		return "Nothing needs you."
	}
	return "There is no such run."
}

// foot says what to type about the row, or what is wrong, and lists the keys.
func (b *board) foot(at int) []string {
	about := ""
	if at < len(b.shown.Rows) {
		about = b.shown.Rows[at].Hint
	}
	first := b.look.accent.Render(clip(about, b.width))
	if b.trouble != "" {
		first = b.look.bad.Render(clip(b.trouble, b.width))
	}
	only := "n only what needs you"
	if b.asking {
		only = "n all runs"
	}
	return []string{first, b.look.dim.Render(clip("↑↓ choose · "+only+" · q leave", b.width))}
}
