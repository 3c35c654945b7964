// Package webhook tells other programs what happens to runs, by POST: that a suggestion is open,
// that a run waits, what is noted, that it has ended.
//
//	sending, err := webhook.Open(ctx, log, folder, logger, webhook.Hook{URL: "https://…", Secret: secret})
//	…
//	sending.Run(ctx)
//
// Each [Hook] has a cursor of its own in every run, which moves once its receiver has taken an
// event: so each event comes at least once, those of a run in their order, whatever becomes of the
// receiver or of this process in between. A receiver knows what it has had already by webhook-id.
//
// A message is signed as Standard Webhooks says (https://www.standardwebhooks.com), so that the
// libraries of that name verify it.
//
//	hook.go     a receiver, and what may be wrong with it
//	send.go     which runs there are to tell of, and one after the other what happened to each
//	cursor.go   how far each run was told of, in a file
//	message.go  what is said
//	post.go     one message to its receiver: the signature, the guard, tries and pauses
package webhook
