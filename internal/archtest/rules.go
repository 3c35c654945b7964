package archtest

// Rooms is the floor table, the narrower lines before the wider. Where recovery may be imported,
// llm may be too: its types stand in recovery's signatures.
var Rooms = append(workshops, []Room{
	{
		From: ".",
		May:  []string{"std"},
		Why:  "the top of the repository is its embedded sources, and no code",
	},
	{
		From: "llm/...",
		May:  []string{"std", "llm/..."},
		Why:  "what is said to a model is the bottom of the house: the nouns import nothing of ours and no module",
	},
	{
		From: "web/...",
		May:  []string{"std"},
		Why:  "the page is embedded files; it talks to the gateway over HTTP and needs nothing of ours",
	},
	{
		From: "proto/...",
		May:  []string{"std", "google.golang.org/protobuf/...", "google.golang.org/grpc/..."},
		Why:  "the words on the wire are generated: a contract that others compile must not drag our code with it",
	},
	{
		From:  "failure/...",
		May:   []string{"std", "failure/..."},
		Never: []string{"net/...", "os/...", "io/fs", "io/ioutil", "sync/atomic", "math/rand/...", "crypto/rand", "log/...", "syscall"},
		Why:   "what an error means is a product of its own: any Go program can ask it alone, so it needs the standard library and nothing of ours, and reads no clock; sync is for tables that are made once, when they are first asked for",
	},
	{
		From:  "recovery/...",
		May:   []string{"std", "llm/...", "failure/...", "recovery/..."},
		Never: []string{"net/...", "os/...", "io/fs", "io/ioutil", "sync/...", "math/rand/...", "crypto/rand", "log/...", "syscall"},
		Why:   "the heart is pure, so that a log replays to the same decisions for ever: no clock, no dice, no I/O; facts come in as events",
	},
	{
		From:  "wire/...",
		May:   []string{"std", "llm/...", "failure/...", "wire/...", "github.com/segmentio/encoding/json"},
		Never: []string{"net/...", "os/...", "io/fs", "io/ioutil", "sync/...", "math/rand/...", "crypto/rand", "log/...", "syscall"},
		Why:   "a wire is spoken once, for adapters, proxy and fault server alike: bytes to words and back, with no connection, clock or dice",
	},
	{
		From: "hooks/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "hooks/..."},
		Why:  "asking for advice knows only what is asked about; processes and wires are the host's",
	},
	{
		From: "timeline/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "timeline/...", "health", "values/..."},
		Why:  "a store keeps events and knows nobody who writes or reads them; the database of several machines keeps their health and what their plugins keep, too",
	},
	{
		From: "values/...",
		May:  []string{"std", "modules", "values/..."},
		Why:  "what plugins keep is bytes by key: it knows neither plugins nor runs, so that a file and a database keep it alike",
	},
	{
		From: "health/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "health/...", "internal/wholefile"},
		Why:  "what is known about providers across runs is shared by runs, so it depends on none of their machinery",
	},
	{
		From: "provider/internal/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "wire/...", "recovery/...", "internal/netguard", "internal/redact", "provider/internal/..."},
		Why:  "what the dialects share must not know any one of them",
	},
	{
		From: "provider",
		May:  []string{"std", "modules", "llm/...", "failure/...", "wire/...", "recovery/...", "internal/redact", "provider/..."},
		Why:  "mapping a configured name to an adapter needs the adapters and the nouns, nothing that runs them",
	},
	{
		From: "provider/pi",
		May:  []string{"std", "llm/...", "failure/...", "wire/...", "recovery/...", "provider/internal/...", "internal/procgroup", "internal/redact", "internal/wholefile"},
		Why:  "an engine is an adapter whose other end is a program: beside what adapters have it needs only how processes are started and ended",
	},
	{
		From: "provider/pi/pitest",
		May:  []string{"std", "internal/needs"},
		Why:  "tests drive the real Pi, where there is one",
	},
	{
		From: "provider/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "wire/...", "recovery/...", "provider/internal/..."},
		Why:  "an adapter turns one wire into deltas and failures; it never knows another adapter or who calls it",
	},
	{
		From: "faultlab/...",
		May:  []string{"std", "modules", "llm/...", "wire/...", "faultlab/..."},
		Why:  "the fault server must not share code with the adapters it tests, or both would be wrong together: good answers are written by wire, where the official SDKs are the judges, as requests are read by it, and judged by rules of the lab's own",
	},
	{
		From: "internal/procgroup/...",
		May:  []string{"std"},
		Why:  "how a child is started so that it can be ended with its children is the same for plugins, tools, MCP servers and Pi; it is the system's business and nobody's words",
	},
	{
		From: "internal/needs",
		May:  []string{"std"},
		Why:  "whether a program of another language can be used is asked by tests everywhere, and in one way",
	},
	{
		From: "internal/doubling",
		May:  []string{"std"},
		Why:  "that twice the input costs twice is held everywhere in one way, whatever the input is",
	},
	{
		From: "internal/golden",
		May:  []string{"std"},
		Why:  "what tests compare with files is the same everywhere, and knows nothing of what it compares",
	},
	{
		From: "internal/schema/...",
		May:  []string{"std", "github.com/santhosh-tekuri/jsonschema/...", "golang.org/x/text/..."},
		Why:  "holding JSON to somebody else's schema has one set of bounds, for a plugin's configuration and a tool's arguments alike; it knows neither",
	},
	{
		From: "internal/terminal/...",
		May:  []string{"std"},
		Why:  "what of somebody else's text may reach a terminal is one rule for the command line and the chat, so that a hole in it is closed once; it knows characters and nothing of ours",
	},
	{
		From: "internal/redact/...",
		May:  []string{"std"},
		Why:  "how a secret is found in text is one rule for whatever is written or sent, so that a hole in it is closed once; it knows bytes and nothing of ours",
	},
	{
		From: "internal/exit",
		May:  []string{"std"},
		Why:  "how a command ends is said by an error and a number; rooms that find a caller's mistake need nothing else of ours to say so",
	},
	{
		From: "internal/near",
		May:  []string{"std"},
		Why:  "what a mistyped word was meant to be is guessed by one rule; it knows letters and nothing of ours",
	},
	{
		From: "internal/yamlfile",
		May:  []string{"std", "github.com/goccy/go-yaml/...", "internal/near", "internal/redact", "internal/wholefile"},
		Why:  "a file that a person writes is read strictly in one place, and what it settles is not known there",
	},
	{
		From: "internal/wholefile",
		May:  []string{"std"},
		Why:  "a file is replaced whole in one place, which knows bytes and nothing of ours",
	},
	{
		From: "internal/keystore",
		May:  []string{"std", "internal/wholefile"},
		Why:  "keys that were pasted are in one file that one package reads and writes: it knows names and values, and nothing of who asks with them",
	},
	{
		From: "internal/hostiletext",
		May:  []string{"std"},
		Why:  "the page and the terminal are held to one corpus of text that is hard to draw; it is text and nothing of ours",
	},
	{
		From: "internal/probe",
		May:  []string{"std", "server"},
		Why:  "whether a serve is ready is asked over its own address, as anybody would: beside that only where it listens is known",
	},
	{
		From: "internal/manual",
		May:  []string{"std", "github.com/spf13/cobra", "github.com/spf13/pflag", "internal/exit"},
		Why:  "a page of the manual says what --help says: it is made of any commands, and knows none of ours",
	},
	{
		From: "internal/recipe",
		May:  []string{"std"},
		Why:  "how a program is started so that it asks a proxy is a table about programs; it needs the proxy's address and nothing of ours",
	},
	{
		From: "internal/netguard",
		May:  []string{"std"},
		Why:  "where a connection may lead is one rule for whoever follows a configured URL, so that a hole in it is closed once; it knows addresses and nothing of ours",
	},
	{
		From: "internal/webguard",
		May:  []string{"std"},
		Why:  "whether a request was meant for a server of ours is one rule for the gateway and the proxy, so that a hole in it is closed once; it knows HTTP and nothing of ours",
	},
	{
		From: "runner/command/...",
		May:  []string{"std", "llm/...", "failure/...", "recovery/...", "runner", "internal/procgroup"},
		Why:  "a command is one more tool to the runner, which does not know it: beside the runner's own words it needs only how processes are started and ended",
	},
	{
		From: "runner/mcp/...",
		May:  []string{"std", "github.com/modelcontextprotocol/go-sdk/...", "llm/...", "failure/...", "recovery/...", "runner", "internal/procgroup"},
		Why:  "a server's tools are tools like any other to the runner, which does not know whose they are: beside the runner's own words they need the protocol's SDK and how processes are ended",
	},
	{
		From: "runner/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "hooks/...", "timeline/...", "health/...", "internal/schema", "runner/..."},
		Why:  "the loop is handed its models and hooks as interfaces; it runs the same without a plugin process or a wire",
	},
	{
		From:  "internal/protoconv/...",
		May:   []string{"std", "google.golang.org/protobuf/...", "google.golang.org/grpc/...", "proto/...", "llm/...", "failure/...", "recovery/...", "hooks/...", "internal/protoconv/..."},
		Never: []string{"net/...", "os/...", "io/fs"},
		Why:   "this is the only place between the domain and protobuf, and only converts: no I/O",
	},
	{
		From: "host/devlink",
		May:  []string{"std", "llm/...", "failure/...", "recovery/...", "hooks", "internal/wholefile"},
		Why:  "a plugin that is being written answers through a file and a socket: it is a hook like any other, and no process of the host's",
	},
	{
		From: "internal/build",
		May:  []string{"std"},
		Why:  "which build this is, is asked of the build alone",
	},
	{
		From: "host/trust",
		May:  []string{"std", "github.com/goccy/go-yaml", "host", "internal/exit", "internal/terminal", "internal/yamlfile", "internal/wholefile"},
		Why:  "what a person let plugins do is files beside the config, not the config: pins and grants know folders and names, and nothing of who asks plugins",
	},
	{
		From: "host/...",
		May:  []string{"std", "modules", "proto/...", "llm/...", "failure/...", "recovery/...", "hooks/...", "internal/protoconv/...", "internal/procgroup/...", "internal/schema", "host/...", "internal/wholefile", "values"},
		Why:  "a plugin process is a hook like any other: its host knows hooks, never who dispatches them",
	},
	{
		From: "telemetry/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "timeline/..."},
		Why:  "what is measured is read off events and where they leave a run: it needs the nouns and the log's contract, and whoever drives runs or serves them is told of it, not the other way round",
	},
	{
		From: "proxy/...",
		May:  []string{"std", "llm/...", "failure/...", "recovery/...", "timeline/...", "hooks/...", "wire/...", "internal/webguard"},
		Why:  "a call comes in on a wire and goes out on one, and is a run between: the proxy declares the few methods of the core that it needs, and knows neither who drives runs nor who asks providers",
	},
	{
		From: "advice/...",
		May:  []string{"std", "google.golang.org/grpc/...", "proto/...", "failure/...", "recovery/...", "timeline", "internal/protoconv"},
		Why:  "who asks for advice makes its calls itself: its words come in and the core's go out, and the room knows neither who drives runs nor who serves it",
	},
	{
		From: "mcpserver",
		May:  []string{"std", "github.com/modelcontextprotocol/go-sdk/...", "github.com/google/jsonschema-go/...", "recovery", "timeline"},
		Why:  "a run is one tool to a client of the protocol: its events are told as progress and its buttons as a form, by the few methods of the core that the door declares",
	},
	{
		From: "acp",
		May:  []string{"std", "github.com/coder/acp-go-sdk", "llm", "recovery", "timeline"},
		Why:  "an editor's session is a conversation of the timeline, told in the words of its protocol: the door declares the few methods of the core that it needs, and knows nobody who drives runs",
	},
	{
		From: "webhook",
		May:  []string{"std", "failure", "recovery", "timeline", "internal/netguard", "internal/wholefile"},
		Why:  "what happens goes out as it stands in the timeline, from a cursor: who sends it drives nothing and answers nobody",
	},
	{
		From:  "gateway/internal/...",
		May:   []string{"std", "llm", "failure", "recovery", "timeline", "gateway/internal/tell"},
		Never: []string{"net/...", "os/...", "sync/...", "math/rand/...", "crypto/..."},
		Why:   "what another protocol has to say of a run, and in which words, follows from its events; who serves it is not known there: no clock, no I/O",
	},
	{
		From: "gateway/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "timeline/...", "advice", "internal/protoconv/...", "internal/webguard", "gateway/...", "internal/wholefile", "internal/answers"},
		Why:  "commands go down through the few methods the gateway declares, events come up from the timeline; it never reaches into the runner",
	},
	{
		From: "sdk/go/plugin/...",
		May:  []string{"std", "modules", "proto/...", "llm/...", "failure/...", "recovery/...", "internal/protoconv/...", "sdk/go/plugin/..."},
		Why:  "whoever writes a plugin compiles this: the vocabulary and the wire, nothing of the engine",
	},
	{
		From:  "sdk/go/client/...",
		May:   []string{"std", "modules", "proto/...", "llm/...", "failure/...", "recovery/...", "internal/protoconv/...", "sdk/go/client/..."},
		Never: []string{"github.com/hashicorp/go-plugin/..."},
		Why:   "a client follows the log and folds it; it neither runs anything nor starts a process",
	},
	{
		From: "sdk/conformance/goplugin",
		May:  []string{"std", "llm/...", "failure/...", "recovery/...", "sdk/go/plugin"},
		Why:  "the Go SDK's conformance plugin is what an author could write: it has no door that authors lack",
	},
	{
		From: "sdk/conformance/plugins",
		May:  []string{"std", "internal/needs"},
		Why:  "making the plugins that are judged takes toolchains, and nothing of what judges them",
	},
	{
		From: "sdk/conformance/...",
		May:  []string{"std", "modules", "proto/...", "llm/...", "failure/...", "recovery/...", "internal/protoconv/...", "internal/schema"},
		Why:  "the judge of plugins shares no code with the host and the SDKs that it judges: the messages, and the host's checks of an answer and of a configuration",
	},
	{
		From: "tui/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "sdk/go/...", "internal/terminal", "tui/..."},
		Why:  "the terminal is a client like any other: what it can do, every SDK can do; beside that it shares only the rule of what may reach a terminal",
	},
	{
		From: "plugins/autorecover",
		May:  []string{"std", "github.com/santhosh-tekuri/jsonschema/v6", "llm/...", "failure/...", "recovery/...", "hooks/...", "internal/build"},
		Why:  "the policy in process is for any Go program: a hook and the vocabulary, without what a plugin's connection takes",
	},
	{
		From: "plugins/autorecover/serve",
		May:  []string{"std", "failure", "recovery", "plugins/autorecover", "sdk/go/plugin"},
		Why:  "our own plugins have no door that others lack: as a process the policy is the SDK and itself",
	},
	{
		From: "plugins/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "sdk/go/...", "internal/build", "internal/near", "internal/netguard"},
		Why:  "our own plugins have no door that others lack: the SDK and the vocabulary, and not each other; where a rule posts to is guarded as everywhere",
	},
	{
		From: "config",
		May: []string{
			"std", "modules", "llm/...", "failure/...", "recovery/...", "provider", "host/...", "gateway", "runner", "runner/command", "runner/mcp", "plugins/rules", "webhook",
			"internal/exit", "internal/near", "internal/redact", "internal/terminal", "internal/yamlfile", "internal/wholefile",
		},
		Why: "what a person settled is said in the words of the rooms that it settles, and starts nothing",
	},
	{From: "internal/tally", May: []string{"std", "failure", "recovery"}, Why: "what became of calls and votes is counted off the events of the runs that a process drives: it needs the nouns, and neither who drives runs nor who shows the counts"},
	{
		From: "internal/answers",
		May:  []string{"std", "failure", "recovery", "timeline"},
		Why:  "an answer to many is commands in the log: whoever drives a run carries its own out, and the API and the terminal say the same",
	},
	{
		From: "show",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "timeline", "runner", "tui", "internal/exit", "internal/terminal", "internal/answers"},
		Why:  "a run as lines is drawn once, for the verbs and for whoever embeds them: it knows runs, and nothing of how they are assembled",
	},
	{
		From: "internal/labserver",
		May:  []string{"std", "faultlab", "failure/words", "internal/exit", "internal/explain", "internal/terminal", "show"},
		Why:  "the fault lab as somebody at a terminal orders it: what is played and what is printed, of no run and no provider",
	},
	{
		From: "internal/demo",
		May: []string{
			"std", "faultlab", "health", "recovery", "runner", "server", "show", "internal/exit", "internal/terminal",
		},
		Why: "the demo is a run like any other, told on a screen: it knows no flag and no page",
	},
	{
		From: "internal/explain",
		May: []string{
			"std", "modules", "llm/...", "failure/...", "recovery/...", "provider", "plugins/autorecover", "hooks", "faultlab/...",
			"config", "show", "internal/exit", "internal/terminal",
		},
		Why: "what a failure means is told from package failure's diagnosis and the catalogue alone: no run, no store, no gateway",
	},
	{
		From:  "server",
		May:   []string{"std", "modules", "ours"},
		Never: []string{"cmd/...", "bench/...", "proto/..."},
		Why:   "the product is put together in one place, which any Go program can import: it knows every room, and no verb",
	},
	{
		From:  "cmd/...",
		May:   []string{"std", "modules", "ours"},
		Never: []string{"cmd/..."},
		Why:   "the wiring knows everything, except another command",
	},
	{
		From: "packaging",
		May:  []string{"std"},
		Why:  "what a release has beside the program is files: no code goes with them",
	},
	{
		From:  "examples/...",
		May:   []string{"std", "ours"},
		Never: []string{"cmd/...", "bench/...", "internal/..."},
		Why:   "an example is what anybody else could write: it has no door that embedders lack",
	},
	{
		From:  "bench/...",
		May:   []string{"std", "modules", "ours"},
		Never: []string{"cmd/..."},
		Why:   "a benchmark may measure everything, except a command from within",
	},
	{
		From: "internal/archtest",
		May:  []string{"std"},
		Why:  "the judge of imports imports nothing it judges",
	},
}...)
