// Package show is a run as lines of text, once: live while it goes on, and afterwards from its
// events. The verbs of the command line draw with it, and whoever embeds Mulligan in a program
// for the terminal can.
//
//	screen.go    where it is shown: the answer on stdout, everything else on stderr
//	live.go      a run while it goes on
//	story.go     a run that is in the timeline
//	waterfall.go what took how long in it, under a headline
//	outcome.go   what a run has come to, and what can be done now
//	json.go      the same as JSON lines
//	table.go, text.go, usage.go   rows, colours and words
//
// What models, providers and plugins wrote passes internal/terminal first: a terminal obeys
// what is written to it.
package show
