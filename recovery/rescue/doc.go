// Package rescue is a run in retrospect: what took how long, what each attempt was asked and why it
// failed, who said what should be done about it, what was decided, and in one sentence what all of
// that came to. It is made from the run's events alone, by the fold of package recovery, so that
// the page, the terminal and a file that is passed on tell the same.
//
//	rescue.go    Rescue, and Builder, which makes one event by event
//	span.go      a stretch of the run's time: an attempt, a wait, a tool call, a person's time
//	failed.go    a failure, with its evidence, the votes about it and the decision
//	asked.go     what an attempt was sent, as far as the log has it
//	headline.go  the sentence, and the figures that it stands on
//	redact.go    the same without what anybody wrote
//	whatif.go    how its failures would have been decided under other settings
package rescue
