package tui

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// Chat is the program: a tea.Model.
type Chat struct {
	cfg    Config
	ctx    context.Context // of all requests
	close  context.CancelFunc
	width  int
	height int
	pen    *pen
	dark   bool

	turns  []*turn // oldest first
	page   *page   // shown in place of the conversation until it is closed
	scroll int     // lines between the end of the conversation and the bottom of the screen
	input  textarea.Model
	said   []string // for the arrow keys, oldest first
	recall int      // which of them is shown; len(said) = none
	draft  string   // what was being written before

	model      string          // of the next messages; "" = the gateway's
	standard   string          // the gateway's own
	defaults   client.Defaults // the session's
	earlier    bool            // there is more of the conversation than is shown
	auto       *bool
	queued     string       // to be sent when the current run has stopped
	unanswered client.Start // the message that may or may not have begun a run
	answering  string       // the suggestion that was just answered
	menu       *menu
	aimed      target // what a digit in the composer was typed for
	notice     string // shown until the next key
	leaving    time.Time
	blurred    bool
	ticking    bool
	details    bool
}

// menu is a choice between models.
type menu struct {
	title  string
	models []string
	choose func(model string) tea.Cmd
}

// New makes a chat. It shows nothing until it is told the size of the screen.
func New(ctx context.Context, cfg Config) *Chat {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	c := &Chat{cfg: cfg, model: cfg.Model, auto: cfg.AutoRecover, dark: true}
	c.ctx, c.close = context.WithCancel(ctx)
	c.input = textarea.New()
	c.input.ShowLineNumbers = false
	c.input.Prompt = ""
	c.input.DynamicHeight, c.input.MinHeight, c.input.MaxHeight, c.input.MaxContentHeight = true, 1, maxComposer, maxLines
	c.input.SetVirtualCursor(false)
	c.input.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("shift+enter", "alt+enter", "ctrl+j"))
	c.input.Focus()
	c.resize(80, 24)
	return c
}

const (
	maxComposer = 6      // lines of the composer that are shown
	maxLines    = 10_000 // lines that a message may have
)

// Init implements tea.Model.
func (c *Chat) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, c.loadHistory(), c.loadModels(knowModels), lookLater())
}

// Update implements tea.Model.
func (c *Chat) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	last, reads := c.last(), c.scroll > 0
	before := c.tail(last)
	cmd := c.update(msg)
	if grown := c.tail(last) - before; reads && c.scroll > 0 && slices.Contains(c.turns, last) {
		c.scroll = max(0, c.scroll+grown) // what is being read stays in place
	}
	return c, tea.Batch(cmd, c.keepTicking())
}

func (c *Chat) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		c.dark = msg.IsDark()
		c.resize(c.width, c.height)
	case tea.FocusMsg:
		c.blurred = false
	case tea.BlurMsg:
		c.blurred = true
	case tea.KeyPressMsg:
		return c.key(msg)
	case tea.MouseWheelMsg:
		c.wheel(msg)
	case tea.PasteMsg:
		msg.Content = clean(msg.Content)
		return c.write(msg)
	case tickMsg:
		c.ticking = false
	default:
		return c.heard(msg)
	}
	return nil
}

// heard takes what the gateway answered.
func (c *Chat) heard(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case historyMsg:
		return c.history(msg)
	case lookMsg:
		return c.look()
	case unseenMsg:
		return c.looked(msg)
	case startedMsg:
		return c.started(msg)
	case itemsMsg:
		return c.items(msg)
	case answeredMsg:
		c.answering = ""
		c.answered(msg.err)
	case cancelledMsg:
		if msg.err != nil {
			c.takeBack()
		}
		c.complain(msg.err)
	case modelsMsg:
		return c.models(msg)
	case chosenMsg:
		c.modelChosen(msg)
	case lessonMsg:
		c.learned(msg)
	case runsMsg:
		c.complain(msg.err)
		c.tellRuns(msg.runs)
	default:
		return c.write(msg)
	}
	return nil
}

// write passes a message to the composer.
func (c *Chat) write(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	c.input, cmd = c.input.Update(msg)
	return cmd
}

func (c *Chat) history(msg historyMsg) tea.Cmd {
	c.complain(msg.err)
	c.defaults = msg.session.Defaults
	runs := msg.session.Runs
	if c.earlier = len(runs) > maxHistory; c.earlier {
		runs = runs[:maxHistory]
	}
	return c.join(0, runs, false)
}

func (c *Chat) turnOf(run string) *turn {
	for _, t := range c.turns {
		if t.run == run {
			return t
		}
	}
	return nil
}

// last is the current turn, nil if there is none.
func (c *Chat) last() *turn {
	if n := len(c.turns); n > 0 {
		return c.turns[n-1]
	}
	return nil
}

// send begins a turn; a run in progress is stopped first.
func (c *Chat) send(text string) tea.Cmd {
	c.scroll = 0
	if t := c.last(); t != nil && t.goesOn() {
		c.queued = text
		return c.stop(t)
	}
	t := newTurn(text)
	c.turns = append(c.turns, t)
	return c.start(t)
}

// stop ends a turn's run; one that has not begun yet, as soon as it has.
func (c *Chat) stop(t *turn) tea.Cmd {
	t.stopping = true
	if t.run == "" {
		return nil
	}
	return c.cancelRun(t.run)
}

func (c *Chat) started(msg startedMsg) tea.Cmd {
	t := msg.turn
	if msg.run == "" && msg.err == nil {
		return c.held(t, msg.unseen)
	}
	c.unanswered = client.Start{}
	if msg.err != nil {
		c.unanswered = msg.sent
		c.drop(t)
		c.queued, c.answering = "", ""
		if c.input.Value() == "" {
			c.compose(asMessage(t.prompt))
		}
		c.complain(msg.err)
		return nil
	}
	cmds := []tea.Cmd{c.join(len(c.turns)-1, msg.unseen, true)}
	if c.turnOf(msg.run) != nil { // a message was sent again that had begun it already
		c.drop(t)
	} else {
		t.run = msg.run
		cmds = append(cmds, c.follow(t))
	}
	if t.stopping {
		cmds = append(cmds, c.cancelRun(msg.run))
	}
	return tea.Batch(cmds...)
}

// items folds what happened to a turn's run.
func (c *Chat) items(msg itemsMsg) tea.Cmd {
	t := msg.turn
	if c.notice == awayLine && !c.cfg.Link.isDown() {
		c.notice = "" // the connection is back
	}
	asked := t.view.Suggestion() != nil
	c.pen.md.budget = 0 // one frame may not be enough to draw it
	for _, item := range msg.items {
		if err := t.apply(item); err != nil {
			t.lost = err.Error()
		}
	}
	if msg.err != nil && c.ctx.Err() == nil {
		t.lost = "The run cannot be followed: " + msg.err.Error()
	}
	var cmds []tea.Cmd
	if msg.more != nil && t.lost == "" {
		cmds = append(cmds, listen(t, msg.more))
	}
	if c.blurred && !asked && t.view.Suggestion() != nil {
		cmds = append(cmds, tea.Raw("\a")) // a person is waited for
	}
	if c.queued != "" && t == c.last() && !t.goesOn() {
		text := c.queued
		c.queued = ""
		cmds = append(cmds, c.send(text))
	}
	return tea.Batch(cmds...)
}

// answered says why an answer failed.
func (c *Chat) answered(err error) {
	t := c.last()
	late := errors.Is(err, recovery.ErrExpired) || errors.Is(err, recovery.ErrAnswered)
	switch {
	case late && t != nil && t.goesOn():
		c.notice = goneOnLine
	case errors.Is(err, recovery.ErrExpired):
		c.notice = expiredLine
	case errors.Is(err, recovery.ErrAnswered):
		c.notice = "Somebody has already answered it."
	default:
		c.complain(err)
	}
}

// complain shows an error until the next key.
func (c *Chat) complain(err error) {
	switch {
	case err == nil || c.ctx.Err() != nil:
	case c.cfg.Link.isDown():
		c.notice = awayLine // the cause would not help anybody
	default:
		c.notice = words.Sentence(line(complaint(err)))
	}
}

// complaint is what an error says to a person: of a request that was refused, what is wrong with its
// fields, since they did not write the request.
func complaint(err error) string {
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok || len(problem.Fields) == 0 {
		return err.Error()
	}
	wrong := make([]string, len(problem.Fields))
	for i, f := range problem.Fields {
		wrong[i] = f.Message
	}
	return strings.Join(wrong, "; ")
}

// takeBack puts a message that waits for the run to stop back into the composer.
func (c *Chat) takeBack() {
	if c.queued != "" {
		c.compose(strings.TrimSpace(c.queued + "\n" + c.input.Value()))
		c.queued = ""
	}
}

// compose puts text into the composer.
func (c *Chat) compose(text string) {
	c.input.SetValue(clean(text))
	c.input.MoveToEnd()
}

const (
	tickEvery = 250 * time.Millisecond
	drawEvery = 20 * time.Millisecond
)

// autoText is the auto-recover setting of the next message, "" if unknown.
func (c *Chat) autoText() string {
	on := cmp.Or(c.auto, c.defaults.AutoRecover)
	if t := c.last(); on == nil && t != nil && t.view.State.Seq > 0 {
		on = &t.view.State.Policy.AutoRecover
	}
	switch {
	case on == nil:
		return ""
	case *on:
		return "auto-recover on"
	}
	return "auto-recover off"
}

// modelText is the model of the next message.
func (c *Chat) modelText() string {
	t := c.last()
	switch {
	case c.model != "":
		return c.model
	case c.defaults.Model != "":
		return c.defaults.Model
	case t != nil && t.view.State.Chosen != "":
		return t.view.State.Chosen
	}
	return c.standard
}

// tellRuns shows a list of runs.
func (c *Chat) tellRuns(runs []client.Listed) {
	if len(runs) == 0 {
		if c.notice == "" {
			c.notice = "There are no runs yet."
		}
		return
	}
	list := page{rows: []row{{"", "The newest runs, of all conversations:"}, {}}}
	for _, r := range runs {
		status := string(r.Status)
		switch {
		case r.Approval:
			status = "needs approval"
		case r.SuggestionOpen:
			status = "recoverable"
		case r.Status == recovery.StatusWaiting && !r.WaitingUntil.IsZero():
			status = "waits until " + words.Clock(r.WaitingUntil, c.cfg.Now())
		}
		where := ""
		if r.Session != "" && r.Session != c.cfg.Session {
			where = " · session " + r.Session
		}
		began := r.StartedAt.In(c.cfg.Now().Location()).Format("Jan 2 3:04 PM")
		list.rows = append(list.rows, row{began, r.Title + " · " + status + where})
	}
	c.tell(list)
}
