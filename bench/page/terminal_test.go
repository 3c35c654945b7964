package page

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/tui"
)

// terminal is a terminal chat that looks at a conversation of the harness, without a terminal:
// what it draws is read.
type terminal struct {
	t   *testing.T
	ctx context.Context

	mu   sync.Mutex
	chat *tui.Chat
}

// watch opens a terminal chat on a conversation of the gateway at url, until the test ends.
func watch(t *testing.T, url, session string) *terminal {
	t.Helper()
	gateway, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &terminal{t: t, ctx: ctx, chat: tui.New(ctx, tui.Config{Client: gateway, Session: session, NoColor: true})}
	t.Cleanup(cancel)
	w.feed(tea.WindowSizeMsg{Width: 120, Height: 50})
	w.mu.Lock()
	begin := w.chat.Init()
	w.mu.Unlock()
	w.do(begin)
	return w
}

// feed tells the chat something, and does what it wants done for it.
func (w *terminal) feed(msg tea.Msg) {
	w.mu.Lock()
	_, cmd := w.chat.Update(msg)
	w.mu.Unlock()
	w.do(cmd)
}

// do does what the chat wants done, each thing by itself, as a terminal's program would.
func (w *terminal) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		if w.ctx.Err() != nil {
			return
		}
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			for _, each := range msg {
				w.do(each)
			}
		default:
			w.feed(msg)
		}
	}()
}

// screen is what the chat draws, without its styles, from the left to the right.
func (w *terminal) screen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return ansi.Strip(w.chat.View().Content)
}

// frame is the lines and corners of a card.
var frame = regexp.MustCompile(`[│╭╮╰╯─\s]+`)

// words is what the chat says, whatever the lines are that it is wrapped to.
func (w *terminal) words() string { return strings.TrimSpace(frame.ReplaceAllString(w.screen(), " ")) }

// wait waits until what is drawn satisfies a condition, which is told where it never does.
func (w *terminal) wait(what string, is func(words string) bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !is(w.words()); time.Sleep(40 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("the terminal never shows %s:\n%s", what, w.screen())
		}
	}
}

func (w *terminal) says(text string) {
	w.t.Helper()
	w.wait(quote(text), func(words string) bool { return strings.Contains(words, text) })
}

// cards counts the cards that are drawn.
func (w *terminal) cards() int { return strings.Count(w.screen(), "╭") }

// button is one as it is drawn: its number and its label.
var button = regexp.MustCompile(`\[(\d)\] (.+?)(?:   |\s*[│\n]|$)`)

// buttons are the labels of the buttons, in the order of their numbers.
func (w *terminal) buttons() []string { return labels(w.screen()) }

func labels(drawn string) (labels []string) {
	for _, found := range button.FindAllStringSubmatch(drawn, -1) {
		labels = append(labels, strings.TrimSpace(found[2]))
	}
	return labels
}

// press presses the button of that label, which for another model may be in the menu behind
// an entry of its own.
func (w *terminal) press(label string) {
	w.t.Helper()
	model, switches := strings.CutPrefix(label, "Switch to ")
	if !switches || slices.Contains(w.buttons(), label) {
		w.number(w.buttons(), label)
		return
	}
	const title = "Continue with"
	w.number(w.buttons(), behind)
	w.says(title)
	_, menu, _ := strings.Cut(w.screen(), title)
	w.number(labels(menu), model)
}

// number presses Alt and the number of a label.
func (w *terminal) number(labels []string, label string) {
	w.t.Helper()
	i := slices.Index(labels, label)
	if i < 0 {
		w.t.Fatalf("no button %q in the terminal:\n%s", label, w.screen())
	}
	w.feed(tea.KeyPressMsg{Code: rune('1' + i), Mod: tea.ModAlt})
}
