package clients

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var onlyClients = flag.String("clients", "", "play only the clients of these names, between commas")

// wanted reports whether a client is to be played.
func (c client) wanted() bool {
	return *onlyClients == "" || slices.Contains(strings.Split(*onlyClients, ","), c.name)
}

// brief are the faults that every client meets outside the report. rough are those that only
// quickly starting clients meet.
var (
	brief = []string{"529 overloaded, from then on", "cut in the middle of a sentence", "cut in the middle of a tool call"}
	rough = []string{"429, again in 1 s", "the connection is reset", "200 and no body", "a clean end without the last event (T33)"}
)

// TestClients: whatever happens to the provider behind the proxy, each client prints the right
// answer once, and runs its tool once.
func TestClients(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some fifty programs: run make test-all")
	}
	s := set(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s.installed(t, c)
			for _, f := range append([]fault{nothing}, faults...) {
				if f.name != nothing.name && !slices.Contains(brief, f.name) && (c.heavy || !slices.Contains(rough, f.name)) {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					t.Parallel()
					if p := s.play(t, c, f, true); p.verdict != right {
						t.Errorf("%s: %s", p.verdict, p.out)
					}
				})
			}
		})
	}
}

// installed skips a client that is not installed, and says so. With CI=true that is a failure,
// unless its registry could not be reached or only the report plays the client.
func (s *setup) installed(t *testing.T, c client) {
	t.Helper()
	if !c.wanted() {
		t.Skip("not asked for")
	}
	_, err := os.Stat(filepath.Join(s.cache, c.needs))
	if err == nil {
		return
	}
	_, unreachable := os.Stat(filepath.Join(s.cache, "unreachable"))
	if os.Getenv("CI") == "true" && !c.rare && unreachable != nil {
		t.Fatalf("%s is not installed, and its registry is there: make clients (%v)", c.name, err)
	}
	t.Skipf("NOT TESTED: %s is not installed: make clients (%v)", c.name, err)
}

// set builds everything that clients are played with.
func set(t *testing.T) *setup {
	t.Helper()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(here, "..", "..")
	bin := t.TempDir()
	s := &setup{tools: tools{cache: filepath.Join(root, ".cache", "clients"), here: here, node: bin, agent: filepath.Join(bin, "agent")}, mulligan: filepath.Join(bin, "mulligan")}
	for _, build := range [][]string{{root, "build", "-o", s.mulligan, "./cmd/mulligan"}, {filepath.Join(root, "internal", "compat"), "build", "-o", s.agent, "./agent"}} {
		cmd := exec.CommandContext(t.Context(), "go", build[1:]...)
		cmd.Dir = build[0]
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(here, "node", "*.mjs"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts { // they look for their modules in their own folder
		text, err := os.ReadFile(script)
		if err == nil {
			err = os.WriteFile(filepath.Join(bin, filepath.Base(script)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(s.module(""), filepath.Join(bin, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFaultsAreNamed: every fault that is played by its name exists.
func TestFaultsAreNamed(t *testing.T) {
	for _, name := range slices.Concat(brief, rough) {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) {
			t.Errorf("no fault is called %q", name)
		}
	}
	for _, f := range faults {
		if strings.ContainsAny(f.name, "\t|\n") {
			t.Errorf("%q does not fit into a table", f.name)
		}
	}
}
