// Package sim runs the whole stack on seeds: the real runner, the real provider
// adapters over net/http, and a fault-injecting provider, inside testing/synctest
// bubbles where time is virtual and net.Pipe is the network.
//
// A seed draws a world (what the models do, how plugins advise, when the store
// fails, what a person does) and one checker looks at what is left behind: the
// event log, the tools' own journal, what a screen showed, and the requests that
// the provider got.
//
//	MULLIGAN_SIM_RUNS=20000 go test -run Sim ./bench/sim    # more seeds
//	MULLIGAN_SIM_SEED=1234 go test -run Sim ./bench/sim     # one seed again, verbosely
//
// Virtual time is deterministic, the order of goroutines is not: run a seed that
// failed a few times.
package sim
