package main

import "testing"

// TestTwoChatsOfOneSession: what fails in the one is shown in the other, and may be answered there.
func TestTwoChatsOfOneSession(t *testing.T) {
	t.Parallel()
	h := newHome(t, "503, answer:It is fine now.")
	one, two := h.inTerminal(80, 24, "chat", "--session", "oslo"), h.inTerminal(80, 24, "chat", "--session", "oslo")
	for _, p := range []*pane{one, two} {
		p.shows("Write a message", "auto-recover off")
	}
	one.types("Is it fine?")
	one.keys("Enter")
	for _, p := range []*pane{one, two} {
		p.shows("❯ Is it fine?", "is having problems", "[1] Retry")
	}
	two.types("1")
	two.keys("Enter")
	for _, p := range []*pane{one, two} {
		p.shows("You chose: Retry", "It is fine now.")
		p.leaves()
	}
	h.asked(2)
}
