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

// terminal is a terminal chat on a conversation of the harness, without a terminal: the test reads
// what the chat renders.
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

// feed passes a message to the chat, and runs the command that it returns.
func (w *terminal) feed(msg tea.Msg) {
	w.mu.Lock()
	_, cmd := w.chat.Update(msg)
	w.mu.Unlock()
	w.do(cmd)
}

// do runs a command concurrently, as the terminal program would.
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

// screen is what the chat renders, without styles.
func (w *terminal) screen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return ansi.Strip(w.chat.View().Content)
}

// frame is the lines and corners of a card.
var frame = regexp.MustCompile(`[│╭╮╰╯─\s]+`)

// words is the chat's text, however its lines are wrapped.
func (w *terminal) words() string { return strings.TrimSpace(frame.ReplaceAllString(w.screen(), " ")) }

// wait waits until the rendered text satisfies a condition, and fails with what if it never does.
func (w *terminal) wait(what string, is func(words string) bool) {
	w.t.Helper()
	for end := time.Now().Add(timeout); !is(w.words()); time.Sleep(40 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("the terminal never shows %s:\n%s", what, w.screen())
		}
	}
}

func (w *terminal) says(text string) {
	w.t.Helper()
	w.wait(quote(text), func(words string) bool { return strings.Contains(words, text) })
}

// cards counts the visible cards.
func (w *terminal) cards() int { return strings.Count(w.screen(), "╭") }

// button is a rendered button: its number and its label.
var button = regexp.MustCompile(`\[(\d)\] (.+?)(?:   |\s*[│\n]|$)`)

// buttons are the labels of the buttons, in the order of their numbers.
func (w *terminal) buttons() []string { return labels(w.screen()) }

func labels(drawn string) (labels []string) {
	for _, found := range button.FindAllStringSubmatch(drawn, -1) {
		labels = append(labels, strings.TrimSpace(found[2]))
	}
	return labels
}

// press presses the button with that label; another model's may be in a menu behind an entry of its
// own.
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
