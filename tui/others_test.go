package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// shown are the messages of the conversation, in their order on the screen.
func (s *scene) shown() []string {
	var prompts []string
	for _, t := range s.chat.turns {
		prompts = append(prompts, t.prompt)
	}
	return prompts
}

// theirs is a run that somebody else has begun in the conversation.
func theirs(id string, status recovery.Status, open bool) client.Listed {
	return client.Listed{ID: id, Session: "oslo", Title: "theirs " + id, Status: status, SuggestionOpen: open}
}

// TestWhatOthersBeginIsShown, once and in its place, and not while a message of this chat begins.
func TestWhatOthersBeginIsShown(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.sends("mine")
		s.gateway.runs = []client.Listed{theirs("r3", recovery.StatusRunning, false), theirs("r2", recovery.StatusCompleted, false), {ID: "r1", Title: "mine"}}
		for range 2 {
			s.does(s.chat.look())
		}
		if got, want := s.shown(), []string{"mine", "theirs r2", "theirs r3"}; !slices.Equal(got, want) {
			t.Errorf("it shows %q", got)
		}
		s.has("❯ theirs r3")
		s.chat.turns = []*turn{newTurn("being sent")}
		s.does(s.chat.look())
		if got := s.shown(); len(got) != 1 {
			t.Errorf("while a message is sent it shows %q", got)
		}
	})
}

// TestAMessageEndsNothingUnseen: it is held back once, what it would end is shown, and then it is
// the person's to say.
func TestAMessageEndsNothingUnseen(t *testing.T) {
	for name, c := range map[string]struct {
		run    client.Listed
		notice string
	}{
		"a suggestion": {theirs("r0", recovery.StatusFailed, true), "closes the suggestion"},
		"a run":        {theirs("r0", recovery.StatusRunning, false), "Enter stops it"},
		"a wait":       {theirs("r0", recovery.StatusWaiting, false), "Enter stops it"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 80, 24, func(s *scene) {
				s.gateway.runs = []client.Listed{c.run}
				s.sends("mine")
				if len(s.gateway.starts) != 0 || s.chat.input.Value() != "mine" || !slices.Equal(s.shown(), []string{"theirs r0"}) {
					t.Errorf("started %+v, the composer has %q, shown is %q", s.gateway.starts, s.chat.input.Value(), s.shown())
				}
				s.has("❯ theirs r0")
				if screen := strings.Join(strings.Fields(s.screen()), " "); !strings.Contains(screen, c.notice) {
					t.Errorf("it does not say %q:\n%s", c.notice, screen)
				}
				s.chat.last().lost = "not followed by this test"
				s.presses(tea.KeyEnter)
				if len(s.gateway.starts) != 1 || !slices.Equal(s.shown(), []string{"theirs r0", "mine"}) {
					t.Errorf("started %+v, shown is %q", s.gateway.starts, s.shown())
				}
			})
		})
	}
}

// TestWhatEndedElsewhereHoldsNothingBack: nothing is lost by the next message, which stands below it.
func TestWhatEndedElsewhereHoldsNothingBack(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.runs = []client.Listed{theirs("r0", recovery.StatusCompleted, false)}
		s.sends("mine")
		if len(s.gateway.starts) != 1 || !slices.Equal(s.shown(), []string{"theirs r0", "mine"}) {
			t.Errorf("started %+v, shown is %q", s.gateway.starts, s.shown())
		}
	})
}

// TestALostMessageIsNotHeldBackByItself: its run may have begun although the answer was lost.
func TestALostMessageIsNotHeldBackByItself(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.err = errors.New("connection reset")
		s.sends("mine")
		s.gateway.err, s.gateway.runs = nil, []client.Listed{{ID: "r1", Title: "mine", Status: recovery.StatusRunning}}
		s.presses(tea.KeyEnter)
		if keys := s.gateway.keys; len(keys) != 2 || keys[0] != keys[1] || !slices.Equal(s.shown(), []string{"mine"}) {
			t.Errorf("the keys %q, shown is %q", keys, s.shown())
		}
	})
}

// TestReadingStaysInPlaceWhenOthersWrite below it.
func TestReadingStaysInPlaceWhenOthersWrite(t *testing.T) {
	play(t, 40, 12, func(s *scene) {
		s.begins(nil)
		s.answers(strings.Repeat("a line of the answer\n\n", 30))
		s.feeds(tea.KeyPressMsg{Code: tea.KeyPgUp})
		conversation := func() string {
			above, _, _ := strings.Cut(s.screen(), "↓ more below")
			return above
		}
		before := conversation()
		s.gateway.runs = []client.Listed{theirs("r2", recovery.StatusRunning, false)}
		s.does(s.chat.look())
		if after := conversation(); after != before {
			t.Errorf("from\n%s\nto\n%s", before, after)
		}
		s.feeds(tea.KeyPressMsg{Code: tea.KeyEnd, Mod: tea.ModCtrl})
		s.has("❯ theirs r2")
	})
}

// TestTheirSuggestionIsAnsweredHere: a card is a card, whoever's message failed.
func TestTheirSuggestionIsAnsweredHere(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.runs = []client.Listed{theirs("r1", recovery.StatusRunning, false)}
		s.does(s.chat.look())
		p := recovery.DefaultPolicy()
		p.Models, p.Plugins = []string{"anthropic/opus"}, []string{"auto-recover"}
		s.happens(recovery.Started{Model: "anthropic/opus", Policy: p}, recovery.Claimed{Owner: "o", Epoch: 1}, recovery.Began{Attempt: 1, Round: 1, Model: "anthropic/opus"})
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
		s.sends("1")
		if len(s.gateway.answers) != 1 || len(s.gateway.starts) != 0 {
			t.Errorf("answers %+v, started %+v", s.gateway.answers, s.gateway.starts)
		}
	})
}

// TestALookThatFailsIsNoLostMessage: nothing was sent, so that what others begin afterwards holds it
// back like any message.
func TestALookThatFailsIsNoLostMessage(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.lookErr = errors.New("connection reset")
		s.sends("mine")
		s.gateway.lookErr, s.gateway.runs = nil, []client.Listed{theirs("r0", recovery.StatusFailed, true)}
		s.presses(tea.KeyEnter)
		if len(s.gateway.starts) != 0 || !slices.Equal(s.shown(), []string{"theirs r0"}) {
			t.Errorf("started %+v, shown is %q", s.gateway.starts, s.shown())
		}
	})
}

// TestAHeldMessageStaysOne: also one that would be a command without the space before it.
func TestAHeldMessageStaysOne(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.runs = []client.Listed{theirs("r0", recovery.StatusFailed, true)}
		s.sends(" /auto on")
		if got := s.chat.input.Value(); got != " /auto on" {
			t.Errorf("the composer has %q", got)
		}
	})
}

// TestReadingStaysInPlaceWhenAMessageIsNotSent, although its turn is gone again.
func TestReadingStaysInPlaceWhenAMessageIsNotSent(t *testing.T) {
	play(t, 40, 12, func(s *scene) {
		s.begins(nil)
		s.answers(strings.Repeat("a line of the answer\n\n", 30))
		s.chat.turns = append(s.chat.turns, newTurn("being sent"))
		s.feeds(tea.KeyPressMsg{Code: tea.KeyPgUp})
		before := s.chat.scroll
		s.feeds(startedMsg{turn: s.chat.last(), err: errors.New("connection reset")})
		if s.chat.scroll == 0 || s.chat.scroll > before {
			t.Errorf("it was %d lines above the end, and is %d", before, s.chat.scroll)
		}
	})
}

// TestLeavingStopsNothingOfOthers: Ctrl-C stops the run of this chat, and not one that it only shows.
func TestLeavingStopsNothingOfOthers(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.gateway.runs = []client.Listed{theirs("r9", recovery.StatusRunning, false)}
		s.does(s.chat.look())
		s.feeds(ctrlC)
		if s.has("Press Ctrl-C again to leave."); strings.Contains(s.screen(), "Stopping") {
			t.Errorf("it says that it stops:\n%s", s.screen())
		}
		if !leaves(s.chat.key(ctrlC)) || len(s.gateway.cancels) != 0 {
			t.Errorf("it does not leave, or cancels %q", s.gateway.cancels)
		}
	})
}
