// Package tui is the terminal chat: a client of a gateway like any other. It starts runs,
// follows them, draws the states of a failure with their words, and posts the buttons that
// a person presses by number.
//
// The parts, in the order of a message's way: [Chat] is the program (chat.go, keys.go,
// commands.go); what it asks of the gateway are commands of Bubble Tea (asks.go), and every
// few seconds, which runs others have begun in its conversation (others.go); a turn folds
// what comes of a run into the pieces of a conversation (turn.go); a situation says what to
// draw below it at a given time (situation.go, a table of states); the rest makes lines of
// it (transcript.go, card.go, markdown.go, look.go) and puts them on the screen (frame.go),
// where a page such as the help takes the conversation's place (page.go). A [Link] knows
// whether the gateway answers.
//
// A board is a table that changes (board.go, board_draw.go): it is told what to show.
//
// Nothing here waits: the program's state changes by messages alone, so a test can feed
// the items of a run and compare frames.
package tui
