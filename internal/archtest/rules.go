package archtest

// Room is one line of the floor table. Patterns are import paths relative to the module
// ("recovery"), paths outside it ("net/http"), or either with "/..." for the path and all below.
// "std" stands for the whole standard library and "modules" for every module but ours.
type Room struct {
	// From says which packages the line is about. The first line that fits a package governs it.
	From string
	// May lists everything the room may import. A package may always import those below itself.
	May []string
	// Never takes out of May again, and is how "std" or "modules" is narrowed.
	Never []string
	// Why is printed when the line is broken.
	Why string
}

// Rooms is the floor table, the narrower lines before the wider. Where recovery may be imported,
// llm may be too: its types stand in recovery's signatures.
var Rooms = []Room{
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
		Never: []string{"net/...", "os/...", "io/fs", "io/ioutil", "sync/...", "math/rand/...", "crypto/rand", "log/...", "syscall"},
		Why:   "what an error means is a product of its own: any Go program can ask it alone, so it needs the standard library and nothing of ours, and reads no clock",
	},
	{
		From:  "recovery/...",
		May:   []string{"std", "llm/...", "failure/...", "recovery/..."},
		Never: []string{"net/...", "os/...", "io/fs", "io/ioutil", "sync/...", "math/rand/...", "crypto/rand", "log/...", "syscall"},
		Why:   "the heart is pure, so that a log replays to the same decisions for ever: no clock, no dice, no I/O; facts come in as events",
	},
	{
		From:  "wire/...",
		May:   []string{"std", "llm/...", "failure/...", "wire/..."},
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
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "timeline/..."},
		Why:  "a store keeps events and knows nobody who writes or reads them",
	},
	{
		From: "health/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "health/..."},
		Why:  "what is known about providers across runs is shared by runs, so it depends on none of their machinery",
	},
	{
		From: "provider/internal/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "wire/...", "recovery/...", "internal/redact", "provider/internal/..."},
		Why:  "what the dialects share must not know any one of them",
	},
	{
		From: "provider",
		May:  []string{"std", "modules", "llm/...", "failure/...", "wire/...", "recovery/...", "internal/redact", "provider/..."},
		Why:  "mapping a configured name to an adapter needs the adapters and the nouns, nothing that runs them",
	},
	{
		From: "provider/pi",
		May:  []string{"std", "llm/...", "failure/...", "wire/...", "recovery/...", "provider/internal/...", "internal/procgroup", "internal/redact"},
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
		Why:  "the fault server must not share code with the adapters it tests, or both would be wrong together: good answers are written by wire, where the official SDKs are the judges, and requests are judged by rules of its own",
	},
	{
		From: "internal/procgroup/...",
		May:  []string{"std"},
		Why:  "how a child is started so that it can be ended with its children is the same for plugins and tools; it is the system's business and nobody's words",
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
		From: "internal/hostiletext",
		May:  []string{"std"},
		Why:  "the page and the terminal are held to one corpus of text that is hard to draw; it is text and nothing of ours",
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
		From: "host/...",
		May:  []string{"std", "modules", "proto/...", "llm/...", "failure/...", "recovery/...", "hooks/...", "internal/protoconv/...", "internal/procgroup/...", "internal/schema", "host/..."},
		Why:  "a plugin process is a hook like any other: its host knows hooks, never who dispatches them",
	},
	{
		From: "telemetry/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "timeline/..."},
		Why:  "what is measured is read off events and where they leave a run: it needs the nouns and the log's contract, and whoever drives runs or serves them is told of it, not the other way round",
	},
	{
		From: "gateway/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "timeline/...", "internal/protoconv/...", "gateway/..."},
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
		May:  []string{"std", "github.com/santhosh-tekuri/jsonschema/v6", "llm/...", "failure/...", "recovery/...", "hooks/..."},
		Why:  "the policy in process is for any Go program: a hook and the vocabulary, without what a plugin's connection takes",
	},
	{
		From: "plugins/autorecover/serve",
		May:  []string{"std", "failure", "recovery", "plugins/autorecover", "sdk/go/plugin"},
		Why:  "our own plugins have no door that others lack: as a process the policy is the SDK and itself",
	},
	{
		From: "plugins/...",
		May:  []string{"std", "modules", "llm/...", "failure/...", "recovery/...", "sdk/go/..."},
		Why:  "our own plugins have no door that others lack: the SDK and the vocabulary, and not each other",
	},
	{
		From:  "cmd/...",
		May:   []string{"std", "modules", "ours"},
		Never: []string{"cmd/..."},
		Why:   "the wiring knows everything, except another command",
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
}

// Door is one more rule about a single target: nobody but the listed packages goes through it.
type Door struct {
	To  string
	For []string
	// OnlyFile, if set, is the one file, relative to the module, that may do it.
	OnlyFile string
	// Except are targets that To covers and the rule does not.
	Except []string
	// Tests says that test files are held to it as well.
	Tests bool
	// Why is printed when the rule is broken.
	Why string
}

// Doors are the rules that read from the imported side.
var Doors = []Door{
	{
		To:    "cmd/...",
		Tests: true,
		Why:   "one room knows everything, and nobody imports it",
	},
	{
		To:    "bench/...",
		For:   []string{"bench/..."},
		Tests: true,
		Why:   "measurements look at the house from outside",
	},
	{
		To:       "provider/...",
		For:      []string{"provider"},
		OnlyFile: "provider/provider.go",
		Except:   []string{"provider", "provider/internal/...", "provider/pi/pitest"},
		Why:      "adapters are named in one file, so that adding or removing one is one line",
	},
	{
		To:  "provider/pi/pitest",
		For: []string{"bench/..."},
		Why: "recordings are played to tests",
	},
	{
		To:  "proto/...",
		For: []string{"proto/...", "internal/protoconv/...", "host/...", "sdk/go/...", "sdk/conformance/..."},
		Why: "protobuf types stop at internal/protoconv; only the two ends of the plugin connection, and the judge who plays one of them, also need the service stubs",
	},
	{
		To:  "github.com/modelcontextprotocol/go-sdk/...",
		For: []string{"runner/mcp"},
		Why: "one package speaks the tools' protocol, so that its SDK can change in one place",
	},
	{
		To:  "go.opentelemetry.io/...",
		For: []string{"telemetry/...", "cmd/...", "bench/..."},
		Why: "one room speaks OpenTelemetry, so that no other pays for it or can put what was said into a span",
	},
	{
		To:  "github.com/hashicorp/go-plugin/...",
		For: []string{"host/...", "sdk/go/plugin/...", "cmd/...", "bench/..."},
		Why: "how a plugin process is spoken to is decided at its two ends only",
	},
}
