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
//	lease, err = log.Renew(ctx, lease, time.Minute) // once, and from then on
//	kept, err := log.Keep(ctx, owner, time.Minute)  // for all that it has, in one write
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
// follower in another process than the owner's gets what the owner saved of them, every now
// and then, as the run's [Tail]: what the attempt in the air has said, until its own last event
// says so. Who comes in the middle of an attempt gets all of it at once.
//
// A run may belong to a [Session]. The first event of a run says which run it continues,
// and is refused unless that is the session's newest and has ended: so a session is one
// line of runs, at most one of them unfinished, however many processes begin runs at once.
// What a run amounts to so far may be kept beside its events, as a snapshot: a reader
// starts from there and reads what came since. It is never needed, only faster.
//
// # Stores
//
//	  runner, gateway, proxy, …
//	             │ Log
//	  ┌──────────┴───────────┐
//	  │       Journal        │  begins, repeats and imports runs, knows what each amounts to,
//	  └──────────┬───────────┘  sessions, Follow and Commands, live text: written once
//	             │ Store
//	memory, timeline/sqlite, …   claim, append, read, list, inbox, tail, blob, delete
//
// [Log] is the contract that others work by, and [Journal] what keeps it. It stands on a [Store],
// which has only what differs from one to the other: a step that is atomic, durable and fenced,
// and ways to look things up. A store is told what a run amounts to rather than folding its
// events, and says when something is durable rather than showing it to anybody. [NewMemory] gives
// a Journal that forgets, timeline/sqlite one that does not; timeline/timelinetest has a suite
// for each of the two halves.
package timeline
