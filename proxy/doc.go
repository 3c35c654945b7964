// Package proxy stands between any agent and its provider: the agent changes one base URL,
// and each of its model calls is a run, with the timers, diagnosis, retries, switches,
// budgets and plugins of all runs.
//
// A [Proxy] is an http.Handler. What it needs of the core is [Runs]; what is asked of whom
// is a list of [Route]s, the first of which that fits a model's name counts:
//
//	p, err := proxy.New(proxy.Config{
//		Runs:   runs,
//		Token:  token.Holds,
//		Routes: []proxy.Route{{Match: "*", Models: []string{"$provider/$model", "openai/gpt-5.2"}}},
//	})
//	http.ListenAndServe("127.0.0.1:8485", p)
//
// # A call, hop by hop
//
//	door.go     who may ask: Host, Origin, token; which wire is spoken, which route fits
//	session.go  what the caller calls its conversation
//	call.go     the run of the call, and the wait for its end
//	commit.go   what of the answer the caller gets, and when: the commit rule, pure
//	reply.go    that on the connection, on the caller's wire
//	unsaid.go   what went out as it came, for a wire that has to go on from there
//	report.go   a failure as an error of that wire
//	wires.go    the four wires, as a caller speaks them
//	routes.go   the routes, and their check
//
// # The commit rule
//
// Status and first bytes are held until there is content, or the answer's end: before that
// attempts are repeated and switched, and the caller sees one answer. After 10 s the caller
// gets a status and signs of life. What it has seen of an answer stays. If that breaks off
// then, another call goes on from there where that can be done (mode continue), or the answer
// ends with an error of its wire (mode error); or the route holds all of it until it is whole
// (mode hold). Tool calls are held until they are whole in every mode.
//
// A provider of the caller's own wire is sent what the caller wrote, and its answer goes out
// as it came, event by event; only where another wire answers, or goes on, it is translated.
package proxy
