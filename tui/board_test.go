package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// shownBoard is a board of so many rows, as it is after its first look.
func shownBoard(t *testing.T, n int, columns, rows int) *board {
	t.Helper()
	load := func(_ context.Context, asking bool) (Board, error) {
		b := Board{Title: "runs", Head: []string{"RUN", "STATE", "MODEL", "PROMPT"}}
		for i := range n {
			if asking && i%2 == 1 {
				continue
			}
			b.Rows = append(b.Rows, BoardRow{
				ID: fmt.Sprint("r", i), Hint: fmt.Sprint("show r", i),
				Cells: []string{fmt.Sprint("r", i), "completed", "a-model-with-a-long-name-of-its-own", "What should I wear in Oslo today, and what tomorrow?"},
			})
		}
		return b, nil
	}
	b := newBoard(t.Context(), BoardConfig{Load: load, Every: time.Hour, NoColor: true})
	b.Update(tea.WindowSizeMsg{Width: columns, Height: rows})
	b.Update(b.load())
	return b
}

func (b *board) lines() []string { return strings.Split(ansi.Strip(b.View().Content), "\n") }

func (b *board) types(key string) {
	code := map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "end": tea.KeyEnd, "home": tea.KeyHome, "pgdown": tea.KeyPgDown}[key]
	msg := tea.KeyPressMsg{Code: code}
	if code == 0 {
		msg = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
	}
	if _, cmd := b.Update(msg); cmd != nil {
		b.Update(cmd())
	}
}

// TestBoardFits: whatever the size of the screen, nothing is wider or higher.
func TestBoardFits(t *testing.T) {
	for _, n := range []int{0, 1, 40} {
		for _, size := range [][2]int{{80, 24}, {40, 10}, {20, 6}, {200, 60}} {
			b := shownBoard(t, n, size[0], size[1])
			lines := b.lines()
			if len(lines) > size[1] {
				t.Errorf("%d rows at %v: %d lines", n, size, len(lines))
			}
			for _, l := range lines {
				if width(l) > size[0] {
					t.Errorf("%d rows at %v: %q", n, size, l)
				}
			}
		}
	}
}

// TestBoardLeavesOutItsFirstColumn where the others have no room beside it, if the line below says the same.
func TestBoardLeavesOutItsFirstColumn(t *testing.T) {
	for _, c := range []struct {
		columns int
		named   bool
		head    string
	}{{80, true, "STATE"}, {80, false, "RUN"}, {120, true, "RUN"}} {
		b := shownBoard(t, 3, c.columns, 24)
		for i := range b.shown.Rows {
			b.shown.Rows[i].Cells[1] = "stopped by a person"
		}
		b.shown.HintNames = c.named
		text := strings.Join(b.lines(), "\n")
		if whole := strings.Contains(text, "its-own"); !strings.HasPrefix(b.lines()[2], "  "+c.head) || whole == (c.columns == 80 && !c.named) || !strings.Contains(text, "show r0") {
			t.Errorf("%+v:\n%s", c, text)
		}
	}
}

// TestBoardKeys: the chosen row stays in sight and chosen, whatever comes above it, and the line below is about it.
func TestBoardKeys(t *testing.T) {
	b := shownBoard(t, 40, 80, 24)
	for _, step := range []struct{ key, chosen string }{
		{"", "r0"}, {"down", "r1"}, {"end", "r39"}, {"down", "r39"}, {"up", "r38"}, {"home", "r0"}, {"up", "r0"}, {"pgdown", "r19"}, {"n", "r0"}, {"end", "r38"}, {"n", "r0"},
	} {
		if step.key != "" {
			b.types(step.key)
		}
		text := strings.Join(b.lines(), "\n")
		if !strings.Contains(text, "❯ "+step.chosen+" ") || !strings.Contains(text, "show "+step.chosen) {
			t.Errorf("after %q not at %s:\n%s", step.key, step.chosen, text)
		}
	}
	b.types("down")
	b.shown.Rows = append([]BoardRow{{ID: "new", Cells: []string{"new", "", "", ""}}}, b.shown.Rows...)
	if text := strings.Join(b.lines(), "\n"); !strings.Contains(text, "❯ r1 ") {
		t.Error(text)
	}
}

// TestBoardSaysWhatIsWrong, and shows what it had until a look works again; one that was for
// something else is too late.
func TestBoardSaysWhatIsWrong(t *testing.T) {
	b := shownBoard(t, 3, 80, 24)
	b.Update(looked{err: errors.New("the store\nis away")})
	text := strings.Join(b.lines(), "\n")
	if !strings.Contains(text, "the store is away") || !strings.Contains(text, "r2") {
		t.Error(text)
	}
	b.Update(b.load())
	b.Update(looked{asking: true})
	if text := strings.Join(b.lines(), "\n"); strings.Contains(text, "away") || !strings.Contains(text, "r2") {
		t.Error(text)
	}
}
