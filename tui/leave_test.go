package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

var ctrlC = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}

// leaves reports whether a key's command ends the program.
func leaves(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, one := range msg {
			if leaves(one) {
				return true
			}
		}
	}
	return false
}

// TestADraftIsNotLostByLeaving: it is put aside first, which is said, and comes back by an arrow.
func TestADraftIsNotLostByLeaving(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.types("a long thought")
		if leaves(s.chat.key(ctrlC)) || s.chat.input.Value() != "" {
			t.Fatalf("it leaves, or keeps %q", s.chat.input.Value())
		}
		s.has("↑ brings it back")
		s.presses(tea.KeyUp)
		if got := s.chat.input.Value(); got != "a long thought" {
			t.Fatalf("the arrow brings %q", got)
		}
		s.types(", and more")
		for range 2 {
			if leaves(s.chat.key(ctrlC)) {
				t.Fatal("it leaves, with a draft or at once")
			}
		}
		s.has("Press Ctrl-C again to leave.")
		if !leaves(s.chat.key(ctrlC)) {
			t.Error("it does not leave")
		}
	})
}

// TestStoppingKeepsTheDraft: the first Ctrl-C is for the run, and the second not for the draft either.
func TestStoppingKeepsTheDraft(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.types("a long thought")
		s.feeds(ctrlC)
		if got := s.chat.input.Value(); got != "a long thought" || len(s.gateway.cancels) != 1 {
			t.Fatalf("the composer has %q, stopped %q", got, s.gateway.cancels)
		}
		if leaves(s.chat.key(ctrlC)) {
			t.Fatal("it leaves with a draft")
		}
		s.has("↑ brings it back")
		s.feeds(ctrlC)
		s.has("Press Ctrl-C again to leave.")
	})
}

// TestWhatWasWrittenBeforeRecallingIsKept: both texts come back.
func TestWhatWasWrittenBeforeRecallingIsKept(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.sends("/auto on")
		s.types("mine")
		s.presses(tea.KeyUp)
		s.feeds(ctrlC)
		s.presses(tea.KeyUp)
		s.presses(tea.KeyUp)
		if got := s.chat.input.Value(); got != "mine" {
			t.Errorf("the arrows bring %q", got)
		}
	})
}
