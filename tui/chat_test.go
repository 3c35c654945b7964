package tui

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

var update = flag.Bool("update", false, "rewrite the frames in testdata")

// fake is a gateway that notes what it is asked. Nothing is followed: tests feed the items.
type fake struct {
	starts   []client.Start // without their keys
	keys     []string
	answers  []client.Answer
	cancels  []string
	lessons  []string
	defaults []client.Defaults
	runs     []client.Listed // of the session, newest first
	err      error
	lookErr  error // of a look at the session's runs
}

func (f *fake) Start(_ context.Context, s client.Start) (string, error) {
	f.keys = append(f.keys, s.Key)
	s.Key = ""
	f.starts = append(f.starts, s)
	if f.err != nil {
		return "", f.err
	}
	last := f.keys[len(f.keys)-1]
	before := f.keys[:slices.Index(f.keys, last)]
	return fmt.Sprintf("r%d", 1+len(slices.Compact(slices.Clone(before)))), nil
}

func (f *fake) Follow(context.Context, string, uint64) iter.Seq2[client.Item, error] {
	return func(func(client.Item, error) bool) {}
}

func (f *fake) Recover(_ context.Context, _ string, a client.Answer) error {
	f.answers = append(f.answers, a)
	return f.err
}

func (f *fake) Cancel(_ context.Context, run string) error {
	f.cancels = append(f.cancels, run)
	return f.err
}

func (f *fake) Kinds(context.Context) ([]client.KindListed, error) {
	return []client.KindListed{{Kind: failure.KindBilling}, {Kind: failure.KindQuota}}, f.err
}

func (f *fake) Learn(_ context.Context, run string, was, kind failure.Kind) (client.Lesson, error) {
	f.lessons = append(f.lessons, run+": "+string(was)+" is "+string(kind))
	return client.Lesson{Before: was, After: kind, Row: "- {}", File: "/there", Warning: "Be careful."}, f.err
}

func (f *fake) Runs(_ context.Context, q client.Query) iter.Seq2[client.Listed, error] {
	return func(yield func(client.Listed, error) bool) {
		if f.lookErr != nil && q.Session != "" {
			yield(client.Listed{}, f.lookErr)
			return
		}
		if q.Session != "" {
			for _, run := range f.runs {
				if !yield(run, nil) {
					return
				}
			}
			return
		}
		yield(client.Listed{ID: "r0", Title: "What is the weather?", Status: recovery.StatusFailed, SuggestionOpen: true, StartedAt: began}, nil)
	}
}

func (f *fake) Session(context.Context, string) (client.Session, error) { return client.Session{}, nil }

func (f *fake) SetSession(_ context.Context, _ string, d client.Defaults) (client.Session, error) {
	if strings.HasPrefix(d.Model, "nope") {
		return client.Session{}, &client.Problem{Status: 422, Detail: "one field is wrong", Fields: []client.Field{
			{Location: "body.model", Message: `no provider "nope"; there are anthropic, openai`},
		}}
	}
	f.defaults = append(f.defaults, d)
	return client.Session{Defaults: d}, nil
}

func (f *fake) Models(context.Context) ([]client.Model, error) {
	return []client.Model{
		{Name: "anthropic/opus", Ready: true, Default: true}, {Name: "openai/gpt", Ready: true}, {Name: "gemini/flash"},
	}, nil
}

var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// scene is a chat with a run that is told event by event.
type scene struct {
	*testing.T
	chat    *Chat
	gateway *fake
	now     time.Time
	state   *recovery.Run // the run as the engine has it
	attempt uint64        // that spoke last
	said    string        // by it
}

// play plays a scene in virtual time.
func play(t *testing.T, columns, rows int, do func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(lookEvery) // for clocks that nobody waits for any more
		do(newScene(t, columns, rows))
	})
}

// newScene is a chat of that size.
func newScene(t *testing.T, columns, rows int) *scene {
	s := &scene{T: t, gateway: &fake{}, now: began, state: &recovery.Run{}}
	s.chat = New(t.Context(), Config{Client: s.gateway, Session: "oslo", NoColor: true, Now: func() time.Time { return s.now }})
	s.chat.Update(tea.WindowSizeMsg{Width: columns, Height: rows})
	return s
}

// does plays what a command brings, and what that brings in turn; not the clock.
func (s *scene) does(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	select {
	case msg := <-done:
		s.gets(msg)
	case <-time.After(100 * time.Millisecond): // a clock, or the cursor's
	}
}

func (s *scene) gets(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil, tickMsg:
	case itemsMsg:
		if len(msg.items) > 0 {
			s.feeds(msg)
		}
	case tea.BatchMsg:
		for _, cmd := range msg {
			s.does(cmd)
		}
	default:
		s.feeds(msg)
	}
}

func (s *scene) feeds(msg tea.Msg) {
	_, cmd := s.chat.Update(msg)
	s.does(cmd)
}

func (s *scene) types(text string) {
	for _, r := range text {
		s.feeds(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (s *scene) presses(code rune) { s.feeds(tea.KeyPressMsg{Code: code}) }

func (s *scene) sends(text string) {
	s.types(text)
	s.presses(tea.KeyEnter)
}

// begins sends a message and starts its run.
func (s *scene) begins(policy func(*recovery.Policy)) {
	s.Helper()
	s.sends("What is a mulligan?")
	p := recovery.DefaultPolicy()
	p.Models = []string{"anthropic/opus", "openai/gpt"}
	p.Plugins = []string{"auto-recover"}
	p.AutoRecover = true
	if policy != nil {
		policy(&p)
	}
	s.happens(recovery.Started{Model: "anthropic/opus", Input: []llm.Message{llm.User("What is a mulligan?")}, Policy: p}, recovery.Claimed{Owner: "o", Epoch: 1})
	s.happens(recovery.Began{Attempt: 1, Round: 1, Model: "anthropic/opus"})
}

// happens tells events as the engine would.
func (s *scene) happens(bodies ...recovery.Body) {
	s.Helper()
	for _, b := range bodies {
		if a := s.state.Attempt; a != nil && a.InAir() && a.ID == s.attempt && b == recovery.Body(recovery.CancelRequested{}) {
			b = recovery.CancelRequested{Attempt: a.ID, Text: s.said}
		}
		e := recovery.Event{Run: "r1", Seq: s.state.Seq + 1, Time: s.now, Text: recovery.Line(s.state, b), Body: b}
		if err := s.state.Apply(e); err != nil {
			s.Fatal(err)
		}
		s.feeds(itemsMsg{turn: s.chat.last(), items: []client.Item{{Event: &e}}})
	}
}

// fails lets the attempt in the air fail, with the model that may be switched to.
func (s *scene) fails(kind failure.Kind, amend func(*failure.Failure)) {
	s.Helper()
	f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Model, f.Provider = s.state.Attempt.Model, strings.Split(s.state.Attempt.Model, "/")[0]
	if amend != nil {
		amend(f)
	}
	f.Describe(failure.Words{})
	s.happens(recovery.Failed{Attempt: s.state.Attempt.ID, Failure: *f, Alternatives: []recovery.Alternative{{Model: "openai/gpt"}}})
}

// decides says what is done, and lets the engine go on with what it does at once.
func (s *scene) decides(d recovery.Decision) {
	s.Helper()
	d.By = &recovery.Voter{Plugin: "auto-recover", Reason: d.Reason}
	s.happens(recovery.Decided{Occasion: s.state.Occasion(), Decision: d})
	s.goesOn()
}

// goesOn writes what the engine records next, and begins the call that it makes.
func (s *scene) goesOn() {
	s.Helper()
	for _, e := range recovery.Next(s.state) {
		switch {
		case e.Record != nil:
			s.happens(e.Record)
		case e.Call != nil && !e.Call.InAir:
			s.happens(e.Call.Intent)
		}
	}
}

func (s *scene) after(d time.Duration) { s.now = s.now.Add(d) }

func (s *scene) says(text string) {
	a := s.state.Attempt
	if s.attempt != a.ID {
		s.attempt, s.said = a.ID, ""
	}
	s.feeds(itemsMsg{turn: s.chat.last(), items: []client.Item{{Delta: &client.Delta{Run: s.state.ID, Attempt: a.ID, Offset: len(s.said), Text: text}}}})
	s.said += text
}

func (s *scene) answers(text string) {
	a := s.state.Attempt
	s.happens(recovery.Answered{Attempt: a.ID, Message: llm.Message{Role: llm.RoleAssistant, Model: a.Model, Parts: []llm.Part{{Text: text}}}, Stop: llm.StopEnd})
}

// screen is what is seen, as text.
func (s *scene) screen() string {
	var rows []string
	for row := range strings.SplitSeq(ansi.Strip(s.chat.View().Content), "\n") {
		rows = append(rows, strings.TrimRight(row, " "))
	}
	return strings.Join(rows, "\n")
}

// shows compares the screen with a golden frame.
func (s *scene) shows(name string) {
	s.Helper()
	got := s.screen()
	rows := strings.Split(got, "\n")
	if len(rows) != s.chat.height {
		s.Errorf("%s: %d lines on a screen of %d", name, len(rows), s.chat.height)
	}
	for _, row := range rows {
		if width(row) > s.chat.width {
			s.Errorf("%s: wider than %d: %q", name, s.chat.width, row)
		}
	}
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o600); err != nil {
			s.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got+"\n", "\n")); diff != "" {
		s.Errorf("%s (go test ./tui -update rewrites it):\n%s", file, diff)
	}
}

// has demands that the screen says this.
func (s *scene) has(text string) {
	s.Helper()
	if !strings.Contains(s.screen(), text) {
		s.Errorf("it does not say %q:\n%s", text, s.screen())
	}
}

func (s *scene) lacks(text string) {
	s.Helper()
	if strings.Contains(s.screen(), text) {
		s.Errorf("it says %q:\n%s", text, s.screen())
	}
}

var retry = recovery.Decision{Action: recovery.ActionRetry, Delay: failure.InMillis(4 * time.Second), Reason: "it may pass"}

// TestTimelines folds the golden logs of every SDK: no frame breaks, and what is shown at
// the end is the run's answer.
func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("../sdk/conformance/timelines/*.json")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var golden struct{ Events []recovery.Event }
			if err := json.Unmarshal(data, &golden); err != nil {
				t.Fatal(err)
			}
			for _, columns := range []int{40, 80} {
				play(t, columns, 24, func(s *scene) {
					s.sends("hello")
					for _, e := range golden.Events {
						s.now = e.Time
						s.feeds(itemsMsg{turn: s.chat.last(), items: []client.Item{{Event: &e}}})
						for _, row := range strings.Split(s.screen(), "\n") {
							if width(row) > columns {
								s.Errorf("event %d: wider than %d: %q", e.Seq, columns, row)
							}
						}
					}
					run := s.chat.last().view.State
					if answer := run.Answer(); run.Status == recovery.StatusCompleted {
						s.has(answer)
					}
				})
			}
		})
	}
}

func TestNumbersPressButtons(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
		asks := s.chat.last().view.Suggestion()
		for _, text := range []string{"no 1 but", "2 mails, please", "12", "9"} {
			s.types(text)
			if s.chat.chosen() != 0 || s.chat.input.Value() != text {
				s.Fatalf("%q: it has chosen %d, and the composer has %q", text, s.chat.chosen(), s.chat.input.Value())
			}
			s.chat.input.Reset()
		}
		s.types("1")
		s.has("Enter chooses: Retry")
		if len(s.gateway.answers) != 0 {
			s.Fatalf("the number alone pressed %+v", s.gateway.answers)
		}
		s.presses(tea.KeyEnter)
		s.feeds(tea.KeyPressMsg{Code: '2', Mod: tea.ModAlt})
		want := []client.Answer{{Suggestion: asks.ID, Action: s.action(recovery.ButtonRetry)}, {Suggestion: asks.ID, Action: s.action(recovery.ButtonSwitchModel)}}
		if diff := cmp.Diff(want, s.gateway.answers); diff != "" {
			s.Error(diff)
		}
	})
}

// action is the id of the first button of a kind that the suggestion has.
func (s *scene) action(kind string) string {
	s.Helper()
	b, ok := s.state.Suggestion.Button(kind)
	if !ok {
		s.Fatalf("no %s in %+v", kind, s.state.Suggestion.Actions)
	}
	return b.ID
}

// TestADigitIsAMessage: where no button was seen when it was typed, and after a space.
func TestADigitIsAMessage(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		s.types("2")
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
		s.has("[2]")
		s.presses(tea.KeyEnter)
		s.sends(" 1")
		if len(s.gateway.answers) != 0 || len(s.gateway.starts) != 2 || s.gateway.starts[1].Prompt != "2" || s.chat.queued != "1" {
			s.Errorf("answers %+v, started %+v, waiting %q", s.gateway.answers, s.gateway.starts, s.chat.queued)
		}
	})
}

// TestAnswerOnce: while an answer is on its way no second one is posted.
func TestAnswerOnce(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
		second := tea.KeyPressMsg{Code: '2', Mod: tea.ModAlt}
		_, first := s.chat.Update(second)
		s.feeds(second)
		s.does(first)
		if len(s.gateway.answers) != 1 {
			s.Errorf("answers: %+v", s.gateway.answers)
		}
		s.gateway.err = &client.Problem{Status: 410}
		s.sends("2")
		s.has(expiredLine)
	})
}

// TestAMessageIsNotSentTwice: one whose answer was lost is the same message when it is sent
// again; the same words later are another one.
func TestAMessageIsNotSentTwice(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.err = errors.New("connection reset")
		s.sends("hi")
		s.gateway.err = nil
		s.presses(tea.KeyEnter) // it is back in the composer
		s.chat.turns = nil
		s.sends("hi")
		keys := s.gateway.keys
		if len(keys) != 3 || keys[0] != keys[1] || keys[1] == keys[2] || s.gateway.starts[1].Prompt != "hi" {
			s.Errorf("started %+v with the keys %q", s.gateway.starts, keys)
		}
	})
}

// TestBusySessionIsTold: what a message is refused for is not taken for a late answer.
func TestBusySessionIsTold(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.err = &client.Problem{Status: 409, Detail: "the session has a run going on"}
		s.sends("What is a mulligan?")
		s.has("The session has a run going on.")
		s.has("What is a mulligan?")
	})
}

func TestWaitIsCutShort(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
		s.sends("2")
		want := []client.Answer{{Suggestion: s.state.Wait.ID, Action: "a2"}}
		if diff := cmp.Diff(want, s.gateway.answers); diff != "" {
			s.Error(diff)
		}
	})
}

// TestASlowCallIsCutShort: numbers press what may be done about it, where its silence has a
// limit; a key that comes too late is told what has happened, and does no harm.
func TestASlowCallIsCutShort(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.after(19 * time.Second)
		s.types("1")
		s.chat.input.Reset()
		s.after(time.Second)
		s.sends("1")
		s.sends("2")
		want := []client.Answer{{Suggestion: "r1-a1", Action: "a1"}, {Suggestion: "r1-a1", Action: "a2"}}
		if diff := cmp.Diff(want, s.gateway.answers); diff != "" {
			s.Error(diff)
		}
		s.gateway.err = &client.Problem{Status: 409}
		s.sends("2")
		s.has(goneOnLine)
	})
	play(t, 80, 24, func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.Timeouts.FirstEvent, p.Timeouts.Idle = 0, 0 })
		s.after(time.Minute)
		s.has("Still waiting for Anthropic… 1 min")
		s.lacks("Retry now")
	})
}

// TestSendingStops: a message that is sent while a run goes on stops it first.
func TestSendingStops(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.says("A mulligan is")
		s.sends("Never mind")
		if len(s.gateway.cancels) != 1 || len(s.gateway.starts) != 1 {
			s.Fatalf("cancelled %v, started %d", s.gateway.cancels, len(s.gateway.starts))
		}
		s.has("Never mind (sent when the run has stopped)")
		s.happens(recovery.CancelRequested{}, recovery.Ended{Status: recovery.StatusCancelled, StopReason: "cancelled"})
		if len(s.gateway.starts) != 2 || s.gateway.starts[1].Prompt != "Never mind" {
			s.Errorf("started %+v", s.gateway.starts)
		}
		s.has("Stopped. The text above is kept.")
	})
}

func TestEscapeStops(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.presses(tea.KeyEscape)
		if diff := cmp.Diff([]string{"r1"}, s.gateway.cancels); diff != "" {
			s.Error(diff)
		}
	})
}

// TestCtrlC: it stops the run that goes on; twice, it leaves.
func TestCtrlC(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.feeds(ctrlC)
		s.has("Stopping… Press Ctrl-C again to leave.")
		if diff := cmp.Diff([]string{"r1"}, s.gateway.cancels); diff != "" {
			s.Fatal(diff)
		}
		s.happens(recovery.CancelRequested{}, recovery.Ended{Status: recovery.StatusCancelled})
		s.after(leaveWithin)
		s.lacks("once more")
		s.feeds(ctrlC)
		s.has("Press Ctrl-C again to leave.")
		s.leavesAt(ctrlC)
	})
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.chat.Update(ctrlC) // and what it asks of the gateway gets lost
		s.leavesAt(ctrlC)
		if diff := cmp.Diff([]string{"r1"}, s.gateway.cancels); diff != "" {
			s.Error(diff)
		}
	})
}

// leavesAt demands that the chat ends at a key.
func (s *scene) leavesAt(key tea.KeyPressMsg) {
	s.Helper()
	_, cmd := s.chat.Update(key)
	left := false
	var look func(tea.Cmd)
	look = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case tea.QuitMsg:
			left = true
		case tea.BatchMsg:
			for _, cmd := range msg {
				look(cmd)
			}
		default:
			if list := reflect.ValueOf(msg); list.Kind() == reflect.Slice { // tea's own sequence
				for i := range list.Len() {
					look(list.Index(i).Interface().(tea.Cmd))
				}
			}
		}
	}
	if look(cmd); !left {
		s.Error("it does not leave")
	}
}

func TestCommands(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.sends("/auto on")
		s.sends("/model")
		s.has("[2] openai/gpt")
		s.lacks("gemini/flash")
		s.sends("2")
		s.sends("Hello")
		on := true
		want := []client.Start{{Prompt: "Hello", Session: "oslo", Model: "openai/gpt", AutoRecover: &on}}
		if diff := cmp.Diff(want, s.gateway.starts); diff != "" {
			s.Error(diff)
		}
		s.sends("/runs")
		s.has("What is the weather? · recoverable")
		s.sends("/nothing")
		s.has("There is no command /nothing")
	})
}

// TestModelIsChosen: by its number in the list or by its name; one that is not there is
// refused with those that are.
func TestModelIsChosen(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.sends("/model nope/x")
		s.has(`  No provider "nope"; there are anthropic, openai. Models that can be used: 1`)
		s.has("  anthropic/opus, 2 openai/gpt.")
		s.sends("/model 3")
		s.has("There is no model 3. Models that can be used: 1 anthropic/opus, 2")
		s.sends("/model 2")
		s.has("Your next message goes to openai/gpt.")
		s.sends("Hello")
		if len(s.gateway.starts) != 1 || s.gateway.starts[0].Model != "openai/gpt" || len(s.gateway.defaults) != 1 {
			s.Errorf("started %+v with defaults %+v", s.gateway.starts, s.gateway.defaults)
		}
	})
}

func TestRetryCommand(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.sends("/retry")
		s.has("nothing to try again")
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
		s.sends("/retry")
		if len(s.gateway.answers) != 1 || s.gateway.answers[0].Action != s.action(recovery.ButtonRetry) {
			s.Errorf("answers %+v", s.gateway.answers)
		}
		s.happens(recovery.Accepted{Suggestion: s.state.Suggestion.ID, Action: recovery.ButtonStop})
		s.goesOn()
		s.sends("/retry")
		if len(s.gateway.starts) != 2 || s.gateway.starts[1].Prompt != "What is a mulligan?" {
			s.Errorf("started %+v", s.gateway.starts)
		}
	})
}

func TestArrowsRemember(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		for _, text := range []string{"/auto on", "/auto off"} {
			s.sends(text)
		}
		s.types("dra")
		for _, want := range []string{"/auto off", "/auto on", "/auto on"} {
			s.presses(tea.KeyUp)
			if got := s.chat.input.Value(); got != want {
				s.Errorf("up: %q, not %q", got, want)
			}
		}
		for _, want := range []string{"/auto off", "dra"} {
			s.presses(tea.KeyDown)
			if got := s.chat.input.Value(); got != want {
				s.Errorf("down: %q, not %q", got, want)
			}
		}
	})
}

// TestRefusedMessageComesBack: what could not be sent is in the composer again.
func TestRefusedMessageComesBack(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.err = errors.New("no model\x1b[2J has a key")
		s.sends("Hello")
		if got := s.chat.input.Value(); got != "Hello" || s.chat.last() != nil {
			s.Errorf("the composer has %q", got)
		}
		s.has("No model[2J has a key")
	})
}

// TestWrong: a failure is called by another kind, as on the page.
func TestWrong(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.sends("/wrong")
		s.has("Nothing has failed just now")
		s.begins(nil)
		s.fails(failure.KindRateLimit, nil)
		s.sends("/wrong")
		s.has("billing,")
		s.presses(tea.KeyEscape)
		s.sends("/wrong billing")
		s.has("from the next one on")
		s.has("careful. Written to /there")
		if len(s.gateway.lessons) != 1 || s.gateway.lessons[0] != "r1: rate_limit is billing" {
			s.Errorf("learned %v", s.gateway.lessons)
		}
	})
}
