package archtest

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
		For: []string{"proto/...", "internal/protoconv/...", "host/...", "advice", "sdk/go/...", "sdk/conformance/..."},
		Why: "protobuf types stop at internal/protoconv; only the two ends of the plugin connection, the judge who plays one of them, and who serves advice also need the service stubs",
	},
	{
		To:  "github.com/modelcontextprotocol/go-sdk/...",
		For: []string{"runner/mcp", "mcpserver"},
		Why: "one package speaks each end of the tools' protocol, so that its SDK can change there alone",
	},
	{
		To:  "github.com/coder/acp-go-sdk",
		For: []string{"acp"},
		Why: "one package speaks the editors' protocol, so that its SDK can change there alone",
	},
	{
		To:  "go.opentelemetry.io/...",
		For: []string{"telemetry/...", "server", "cmd/...", "bench/..."},
		Why: "one room speaks OpenTelemetry, so that no other pays for it or can put what was said into a span",
	},
	{
		To:  "github.com/hashicorp/go-plugin/...",
		For: []string{"host/...", "sdk/go/plugin/...", "cmd/...", "bench/..."},
		Why: "how a plugin process is spoken to is decided at its two ends only",
	},
}
