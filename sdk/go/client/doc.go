// Package client speaks to a Mulligan gateway: it starts runs, follows them, and answers
// their suggestions.
//
//	c, err := client.New("http://127.0.0.1:8484", client.WithToken(token))
//	id, err := c.Start(ctx, client.Start{Prompt: "What is a mulligan?"})
//	var view client.View
//	for item, err := range c.Follow(ctx, id, 0) {
//		view.Apply(item)
//		fmt.Println(view.Text())
//	}
//	if s := view.Suggestion(); s != nil {
//		err = c.Recover(ctx, id, client.Answer{Suggestion: s.ID, Action: s.Actions[0].ID})
//	}
//
// A run may call functions of the program that starts it: Start.Tools declares them, and
// [Client.FollowWithTools] answers their calls.
//
// [Client.Run] says where a run stands without following it; [Client.Session] and the others
// of its file tell of conversations, and set what their runs start with.
//
// Following survives a gateway that restarts and a connection that breaks: every durable
// event comes exactly once, in order. A [View] folds what comes with the rules of the
// engine itself.
package client
