// Command load puts `mulligan serve` under load and prints what it measured as one table.
//
//	make load                         # some eight minutes, both of 2 processors busy
//	go run -C bench ./load -short     # a look in two minutes, with fewer runs
//	make load STORE=postgres          # each part once more in a database: twice as long
//	go run -C bench ./load -only soak # eight minutes more, which make load does not take
//
// Three processes take part, over loopback TCP: the program itself, as it is installed,
// with its store, its plugin and its guard (serve.go); the provider, a faultlab
// (provider.go); and this one, which starts runs and follows them. They share the
// processors, so the table says how much each of them took, and how much others did.
//
//	bare.go     the same without Mulligan: what the machine itself takes
//	steady.go   runs that stream at 20 deltas a second: how many until they are late?
//	fanout.go   2,000 followers, of whom 50 stop reading: are the others late?
//	storm.go    1,000 runs get a 529 at once: how hard is the provider asked again?
//	proxied.go  1,000 calls through the proxy, 1,000 × 529, 200 who stop reading, all who vanish
//	recovery.go 1,000 open runs when it is killed, ten times: how soon do they go on?
//	soak.go     200 runs at a time, faults, a plugin that is killed: does it grow?
//
// What is added to the provider's own time is known because the provider writes into each
// delta when it was sent (stamp.go), by the same machine's clock.
//
// Nothing fails because it is slow. A run that is lost, a gap, a repeat, text that is not
// the answer's, or a follower who never hears of the end are wrong (follower.go), and make
// the command fail.
//
// The tests have a follower whose connections break a thousand times (reconnect_test.go).
package main
