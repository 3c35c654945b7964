package main

// row is one line of the table and the source of its numbers.
type row struct {
	what     string
	dir      string // of the package, relative to the top of the repository
	bench    string // the benchmark's name, with that of its part after a slash
	metrics  string // the prefix of its metrics' names, "" for the main ones
	baseline string // what the baseline is, "" if none
	compare  compare
	at       string // the metric to compare
	target   target
	optional string // why it may be missing; "" = it may not
}

// compare is how a number is compared with its baseline.
type compare int

const (
	ratio      compare = iota // measured / baseline
	difference                // measured − baseline, µs
)

// target bounds the comparison or, if own is set, the metric of that name.
type target struct {
	text  string
	most  float64 // 0 = no such target
	least float64 // 0 = no such target
	own   string
}

const (
	p50    = "p50-us"
	p99    = "p99-us"
	perSec = "per-s"

	cpuPerCall    = "cpu-us/call"
	allocsPerCall = "allocs/call"

	cpuPerStep   = "cpu-us/step"
	bytesPerStep = "B/step"
)

// needsPostgres is why a row about the database store may be missing.
const needsPostgres = "no PostgreSQL on this machine, and no MULLIGAN_POSTGRES"

// compat is the folder of the module with the official SDKs.
const compat = "internal/compat"

var rows = []row{
	{
		what: "hook round trip through a Go plugin", dir: "bench", bench: "Hook", baseline: "bare grpc-go call",
		at: p50, target: target{text: "≤ 1.3× at p50", most: 1.3},
	},
	{
		what: "failure → next attempt's first byte, log in memory", dir: "bench", bench: "FailoverMemory", baseline: "net/http asking again",
		compare: difference, at: p50, target: target{text: "p99 ≤ 2 ms", most: 2_000, own: p99},
	},
	{
		what: "failure → next attempt's first byte, SQLite log", dir: "bench", bench: "FailoverSQLite", baseline: "net/http asking again",
		compare: difference, at: p50, target: target{text: "p99 ≤ 25 ms", most: 25_000, own: p99},
	},
	{
		what: "streamed model call through the runner", dir: "bench", bench: "Stream", baseline: "bare net/http",
		compare: difference, at: p50, target: target{text: "≤ +0.10 ms at p50", most: 100},
	},
	{
		what: "  processor time of it", dir: "bench", bench: "Stream", baseline: "bare net/http",
		compare: difference, at: cpuPerCall,
	},
	{
		what: "  allocations of it", dir: "bench", bench: "Stream", baseline: "bare net/http",
		at: allocsPerCall,
	},
	{
		what: "  with its log in SQLite", dir: "bench", bench: "StreamSQLite", baseline: "bare net/http",
		compare: difference, at: p50,
	},
	{
		what: "  of it, our adapter without the runner", dir: "bench", bench: "Stream", metrics: "adapter-", baseline: "bare net/http",
		compare: difference, at: p50,
	},
	{
		what: "that call through Bifrost's core", dir: "bench", bench: "StreamBifrost", baseline: "bare net/http",
		compare: difference, at: p50, optional: "bench/bifrost cannot be built",
	},
	{
		what: "  through the runner, in turns with it", dir: "bench", bench: "StreamBifrost", metrics: "runner-", baseline: "bare net/http",
		compare: difference, at: p50, optional: "bench/bifrost cannot be built",
	},
	{
		what: "streamed model call through openai-go", dir: compat, bench: "Stream", baseline: "bare net/http",
		compare: difference, at: p50, optional: "no BenchmarkStream in " + compat,
	},
	{
		what: "streamed call through the proxy, SQLite log", dir: "bench", bench: "Proxy/steady", baseline: "the same, directly",
		compare: difference, at: p50, target: target{text: "≤ +0.25 ms at p50", most: 250},
	},
	{
		what: "  processor time of it", dir: "bench", bench: "Proxy/steady", baseline: "the same, directly",
		compare: difference, at: cpuPerCall,
	},
	{
		what: "  of it, a hop that does nothing (httputil.ReverseProxy)", dir: "bench", bench: "Proxy/steady", metrics: "hop-", baseline: "the same, directly",
		compare: difference, at: p50,
	},
	{
		what: "  one of 200 deltas", dir: "bench", bench: "Proxy/long", baseline: "the same, directly",
		compare: difference, at: p50, target: target{text: "≤ +0.25 ms at p50", most: 250},
	},
	{
		what: "  of it, a hop that does nothing", dir: "bench", bench: "Proxy/long", metrics: "hop-", baseline: "the same, directly",
		compare: difference, at: p50,
	},
	{
		what: "  that through LiteLLM's proxy, which keeps nothing", dir: "bench", bench: "ProxyLiteLLM", baseline: "the same, directly",
		compare: difference, at: p50, optional: "LiteLLM is not installed: bench/clients/install litellm",
	},
	{
		what: "advice about a call of another program's, log in memory", dir: "bench", bench: "Decide/memory",
		at: p50, target: target{text: "≤ 1 ms at p50", most: 1_000, own: p50},
	},
	{what: "  with its log in SQLite, one durable step", dir: "bench", bench: "Decide/sqlite", at: p50},
	{what: "appends to the SQLite log, 1 writer", dir: "bench", bench: "Append1", baseline: "raw file, fsync each", at: perSec},
	{what: "appends to the SQLite log, 64 writers", dir: "bench", bench: "Append64", baseline: "raw file, fsync each", at: perSec},
	{
		what: "  of them, beside writers that share an fsync", dir: "bench", bench: "Append64Grouped", baseline: "raw file, grouped fsync",
		at: perSec, target: target{text: "≥ 0.4×", least: 0.4},
	},
	{
		what: "appends to the PostgreSQL log, 1 writer", dir: "bench", bench: "Append1Postgres", baseline: "raw file, fsync each",
		at: perSec, target: target{text: "≥ 0.65×", least: 0.65}, optional: needsPostgres,
	},
	{
		what: "appends to the PostgreSQL log, 64 writers", dir: "bench", bench: "Append64Postgres", baseline: "the SQLite log",
		at: perSec, target: target{text: "≥ 0.5×", least: 0.5}, optional: needsPostgres,
	},
	{
		what: "  what one of them waits", dir: "bench", bench: "Append64Postgres",
		at: p50, target: target{text: "p99 ≤ 15 ms", most: 15_000, own: p99}, optional: needsPostgres,
	},
	{
		what: "steps a second of 64 runs with their log in PostgreSQL", dir: "bench", bench: "Steps64Postgres", baseline: "in SQLite",
		at: perSec, target: target{text: "≥ 0.4×", least: 0.4}, optional: needsPostgres,
	},
	{
		what: "calls a second that 64 callers count against the day's budget in PostgreSQL", dir: "bench", bench: "ReservePostgres",
		at: perSec, target: target{text: "≥ 1,000 a second", least: 1_000, own: perSec}, optional: needsPostgres,
	},
	{
		what: "a durable event, until who follows it through another store has it", dir: "bench", bench: "Elsewhere",
		at: p50, target: target{text: "p99 ≤ 40 ms", most: 40_000, own: p99}, optional: needsPostgres,
	},
	{
		what: "  through a pooler, where it is looked for", dir: "bench", bench: "Elsewhere", metrics: "polled-",
		at: p50, target: target{text: "p99 ≤ 150 ms", most: 150_000, own: p99}, optional: needsPostgres,
	},
	{
		what: "a live delta, of 20,000 a second, until who follows it at another member has it", dir: "bench", bench: "ElsewhereLive",
		at: p50, target: target{text: "p99 ≤ 10 ms", most: 10_000, own: p99}, optional: needsPostgres,
	},
	{
		what: "10,000 runs that are due at once, until two members have claimed them in bulk", dir: "bench", bench: "DuePostgres",
		at: p50, target: target{text: "≤ 1 s at p50", most: 1_000_000, own: p50}, optional: needsPostgres,
	},
	{
		what: "  beside one that claims one at a time", dir: "bench", bench: "DuePostgres", baseline: "one at a time",
		at: perSec, optional: needsPostgres,
	},
	{
		what: "a member's heartbeat, which keeps the leases of all its runs, with 10,000 of them", dir: "bench", bench: "MemberPostgres", baseline: "with none",
		at: p50, optional: needsPostgres,
	},
	{
		what: "processor time per step of a run of 10,000", dir: "bench", bench: "StepsMemory", baseline: "of a run of 10",
		at: cpuPerStep, target: target{text: "≤ 1.3×", most: 1.3},
	},
	{
		what: "  bytes allocated per step", dir: "bench", bench: "StepsMemory", baseline: "of a run of 10",
		at: bytesPerStep, target: target{text: "≤ 1.3×", most: 1.3},
	},
	{
		what: "reading a run of 10,000 events whose process was killed", dir: "bench", bench: "Resume", baseline: "folding all of it",
		at: p50,
	},
	{
		what: "  that had settled", dir: "bench", bench: "Resume", metrics: "settled-", baseline: "folding all of it",
		at: p50,
	},
	{
		what: "list of 10,000 stored runs, the newest 50", dir: "bench", bench: "List", metrics: "page-",
		at: p50, target: target{text: "≤ 50 ms", most: 50_000, own: p50},
	},
	{
		what: "  all of them", dir: "bench", bench: "List",
		at: p50, target: target{text: "≤ 50 ms", most: 50_000, own: p50},
	},
	{
		what: "list of 10,000 runs stored in PostgreSQL, the newest 50", dir: "bench", bench: "ListPostgres", metrics: "page-",
		at: p50, target: target{text: "≤ 5 ms", most: 5_000, own: p50}, optional: needsPostgres,
	},
	{
		what: "  all of them", dir: "bench", bench: "ListPostgres",
		at: p50, target: target{text: "≤ 150 ms", most: 150_000, own: p50}, optional: needsPostgres,
	},
	{what: "a conversation of 1,000 runs, read for the next", dir: "bench", bench: "Session", at: p50},
	{what: "Apply and Next, per event", dir: "bench", bench: "ApplyNext", baseline: "decoding its JSON", at: p50},
	{what: "Classify 4 KiB", dir: "bench", bench: "Classify", baseline: "json.Valid", at: p50},
}
