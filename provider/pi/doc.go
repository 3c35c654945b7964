// Package pi makes the Pi coding agent an [llm.Engine]: its command line program is driven
// in RPC mode, one JSON object a line each way, and what it does is told as the rounds of
// any other model. A model is pi/PROVIDER/MODEL, the last two in Pi's own words.
//
//	engine, err := pi.New(pi.Config{Name: "pi", Folder: private})
//	…
//	defer engine.Close()
//
// One call of Stream hears the turn up to one message of Pi's model. The tools that it
// calls are being run by Pi already: Result waits for each. The next Stream goes on hearing
// the same turn. Where Pi says that a message failed, Stream ends in one Failure, however
// often Pi repeats it, once it is known what Pi itself makes of it:
//
//	message_end ──error──► auto_retry_start   Failure with Pi's delay; the turn goes on
//	                  ├──► compaction_start   Pi shortens the conversation and goes on
//	                  └──► agent_settled      Failure; the turn is over
//
// # Going on
//
// Everything Pi knows is in the session's file, which has a name of its own in the private
// folder. Before it is asked anything Pi is asked what it knows, and that decides (plan.go):
//
//	it does not know the user's message    it is told, after what others said meanwhile
//	it knows it, without an answer         it goes on
//	it knows an answer that nobody heard   the answer is told again
//
// Pi has no command to go on. It gets a prompt that says so, and an extension of ours
// (going_on.js) takes that prompt out of what the model is sent: the request is the one
// that failed, tool results included. This works in all versions, after any failure, with
// any model and also in a new process, so the other ways are not taken: the boundary before
// a run settles (only from 0.87 on, and it would have to be held open while people think),
// and a fork of the session, which loses what tools did and moves the file. Another model
// is chosen with set_model, where Pi retries by itself also while it sleeps; one that Pi
// does not list is given to a new process. JSON mode is not used either: every version from
// 0.73 on has RPC, and only that can be told to stop.
//
// # What Pi does not tell
//
// With [Config].Observe its requests pass a proxy on this machine. observe.js has Pi ask there,
// where it would ask at an address that the proxy leads to, so the private folder, which all
// Pis share, names none. What is seen goes two ways: that an answer begins is an event among
// Pi's own, and how a request went is with the message that Pi ends after it. If Pi says that the
// message failed, the failure is that of the last request which went wrong as it says.
//
// # What it promises
//
//	Pi01  an error that Pi repeats is one failure
//	Pi02  nothing at all is no answer, whatever Pi takes it for
//	Pi03  a call of a tool whose arguments do not end is none
//	Pi04  what a failed message said is withdrawn before another begins, also where Pi asks again by itself
//	Pi05  what Pi started ends when nobody works with Pi any more, wherever it went (on Linux; elsewhere what is in Pi's group)
//	Pi06  a message of the user is told once, and what failed is gone on with
//	Pi07  what is left of a Pi whose Mulligan was killed ends before Pi goes on; nothing of one that lives
//	Pi08  the way through the proxy is for the Pi that has its secret, and leads to Pi's providers only
//	Pi09  of an observed Pi a failure says what the provider said, and half an answer is none
//
// # Where else to look
//
//	session.go   one conversation: its process, and whose turn it is
//	stream.go    from Pi's events to deltas, and when a message is one
//	plan.go      what Pi has to be told
//	event.go     the events that matter, read without what they repeat
//	grammar.go   what Pi's errorMessage says
//	process.go   a Pi that runs, and how it is ended with all that it started
//	commands.go  what it is told, and what it answers
//	tools.go     the calls that it carries out
//	folder.go    what Pi finds in its private folder
//	terms.go     on what Pi is started: system prompt, output limit
//	effort.go    how much its model thinks
//	proxy.go     what stands between Pi and its providers
//	upstream.go  where those are
//	requests.go  what is seen there of one Pi's requests
//	owners.go    what is left of Pis whose Mulligan was killed
package pi
