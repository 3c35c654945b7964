// Package timeline is the durable log: what happened to every run, in order, and
// the inbox through which others reach a run's owner.
//
// One owner at a time appends to a run. It claims the run, and every claim has a
// higher epoch, so that whoever was there before is refused:
//
//	lease, err := log.Claim(ctx, run, owner, time.Minute)
//	…
//	err = log.Append(ctx, lease, r.Seq, events...) // all of them or none
//	…
//	err = log.Release(ctx, lease)
//
// Everybody else follows with a cursor, the seq of the last event they have seen:
//
//	for item, err := range log.Follow(ctx, run, cursor) {
//		if err != nil {
//			return err
//		}
//		if item.Event != nil { … } else { … } // an event, or a live Delta
//	}
//
// and says what they want through the inbox; the owner turns each command into an
// event that carries the command's position, and asks on from the last one that
// an event answered:
//
//	n, err := log.Send(ctx, run, timeline.Command{ID: id, Body: recovery.CancelRequested{}})
//
//	               Append (epoch, seq)                    Follow (cursor)
//	   owner  ───────────────────────────▶  run's events ─────────────────▶ everybody
//	     ▲    ───────────────────────────▶  live deltas  ─────────────────▶
//	     │         Publish                                                     │
//	     └───────────────────────────────   inbox  ◀───────────────────────────┘
//	               Commands                              Send
//
// Events are durable, have a seq without a gap, and are shown only once they are
// durable. Deltas are neither: they carry an attempt and a byte offset, and a
// follower may lose them, and is told so by Item.Behind if it does because it is slow. A
// follower in another process than the owner's gets events only.
//
// A run may belong to a [Session]. The first event of a run says which run it continues,
// and is refused unless that is the session's newest and has ended: so a session is one
// line of runs, at most one of them unfinished, however many processes begin runs at once.
// What a run amounts to so far may be kept beside its events, as a snapshot: a reader
// starts from there and reads what came since. It is never needed, only faster.
//
// [Log] is the contract, [Memory] the store that forgets, timeline/sqlite the one
// that does not; timeline/timelinetest is the suite that each store passes, and
// [Feed] what a store builds its following on.
package timeline
