// Package health is what is known about providers across runs: who is cooling
// down after a failure that outlives the call, and until when; and what the runs
// of the day have spent.
//
//	h, err := health.Open(filepath.Join(state, "health.json")) // or health.New()
//	…
//	h.Failed("anthropic/fable-1", failure, time.Now())
//	if c, cooling := h.Cooling("anthropic/fable-1", time.Now()); cooling {
//		// leave the model out of the alternatives until c.Until
//	}
//	h.Succeeded("anthropic/fable-1") // it works again: start from the beginning
//
// # Scopes
//
// A cooldown covers as little as its failure says anything about:
//
//	rate_limit, overloaded, model_not_found   the provider entry and model ("anthropic/fable-1")
//	quota, auth, billing                      the provider entry ("anthropic"); of an engine,
//	                                          which asks several, the one that failed ("pi/anthropic");
//	                                          a quota is the model's as well, and alone is that once
//	                                          another model of the entry has answered
//	everything else, and our own timers       nothing
//
// # How long
//
// 30 s after the first failure, doubled by every further one in a row up to an
// hour, and never less than the provider asked for. Of those that come while it lasts none
// doubles it: a thousand calls that fail together are one failure. A later failure never
// shortens it and a success ends it.
//
// # Turns
//
// Runs that failed together come back together, and what they come back to has just said
// that it has too much to do. So the calls of such a provider entry wait for their turn:
//
//	time.Sleep(h.Turn("anthropic/fable-1")) // usually 0
//
// # Spending
//
// What runs have spent is counted by the local day, for budgets that all runs of a
// day share. A call is counted when it begins by what it may use, under the same
// lock that the budget is looked at, and corrected when it ends:
//
//	if _, lacks := h.Reserve(began, reserve, limit); lacks == "" {
//		// call the model, then:
//		h.Spend(began, used.Minus(reserve))
//	}
//
// A call whose process died stays counted by what it may have used.
//
// # Sharing
//
// Processes that open the same file see each other's cooldowns and spending: a change is
// made to what the file says, under a lock beside it, and replaces the file as a
// whole. What cannot be written is kept in memory and written next time; health
// is advice, so trouble with the file is logged and never stops a run.
package health
