package needs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module   = "github.com/mulligan-run/mulligan/"
	stubSays = "this is a stub and does not work"
)

// stubbed are all programs that tests use and that a Go developer need not have.
var stubbed = []string{
	"node", "npm", "npx", "python3", "python", "cargo", "rustc", "java", "javac", "mvn", "tmux", "strace", "initdb", "pgbouncer", "haproxy", "groff", "script",
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
}

// foreign are the tests that use these programs, by room.
var foreign = map[string]string{
	"bench/clients":              "^TestACPXAsks$",
	"bench/cluster":              "^TestBalancer$",
	"bench/kill":                 "TestAcknowledgedAfterSync",
	"bench/page":                 "^Test(Axe|Shortcuts|TwoWindows|RealPi|HostileText|Failed|SignIn)$",
	"bench/pi":                   ".",
	"cmd/mulligan":               "^Test(Chat|ChatStops|RunAsks|RunLeavesOpen|StoreStories)$",
	"internal/devtools/scaffold": "TestNewPluginsPass/(java|python|typescript|rust)",
	"failure":                    "^TestPorts$",
	"gateway":                    "^TestAskers$",
	"internal/manual":            "^TestPagesAreRoff$",
	"internal/plugininstall":     "^Test(PyPI|PyPIRefuses|NPM|Cargo)$",
	"packaging":                  "^Test(NpmPackages|PythonPackages|MavenPackage|Crate)$",
	"host/languages":             "TestFaults/(java|python|typescript|rust)",
	"runner/mcp":                 "TestLive",
	"timeline/postgres":          "^Test([^FRC]|F[^i]|R[^i]|C[^l])", // all but TestFindings, TestRingFits and TestClock
	"sdk/conformance":            "^Test(Languages|Examples|Values)$/(python|typescript|rust|java)|^TestKotlin$",
}

// indirect are the rooms that ask for programs through another room.
var indirect = map[string]string{"provider/pi/pitest": "bench/pi", "sdk/conformance/plugins": "sdk/conformance"}

// TestOnlyGoIsNeeded replaces every program of another language by a stub that fails. A test that
// needs one is skipped and says why, fails and says why with CI=true, and never passes.
func TestOnlyGoIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the tests of other rooms")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	stubs := t.TempDir()
	for _, dir := range []string{filepath.Dir(stubs), stubs} { // some programs are run by another user than root
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // stubs are no secret
			t.Fatal(err)
		}
	}
	for _, name := range stubbed {
		if err := os.WriteFile(filepath.Join(stubs, name), []byte("#!/bin/sh\necho '"+stubSays+"' >&2\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, room := range slices.Sorted(maps.Keys(foreign)) {
		for ci, want := range map[string]string{"": "skip", "true": "fail"} {
			t.Run(fmt.Sprintf("%s, CI=%q", room, ci), func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-count=1", "-timeout=5m", "-run", foreign[room], ".")
				cmd.Dir = filepath.Join(root, room)
				cmd.Env = append(os.Environ(), "PATH="+stubs+string(os.PathListSeparator)+os.Getenv("PATH"), "CI="+ci)
				out, err := cmd.Output()
				if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				checkEnds(t, out, want)
			})
		}
	}
}

// checkEnds checks how the tests without subtests ended.
func checkEnds(t *testing.T, out []byte, want string) {
	t.Helper()
	ends, said := map[string]string{}, map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Buffer(nil, 4<<20); lines.Scan(); {
		var line struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		switch line.Action {
		case "pass", "fail", "skip":
			ends[line.Test] = line.Action
		case "output", "build-output":
			said[line.Test] += line.Output
		}
	}
	leaves := 0
	for name, end := range ends {
		if name == "" || hasChildren(name, ends) {
			continue
		}
		leaves++
		if end != want || !strings.Contains(said[name], stubSays) || want == "skip" && !strings.Contains(said[name], "NOT TESTED") {
			t.Errorf("%s: %s, want %s, and it says\n%s", name, end, want, said[name])
		}
	}
	if leaves == 0 {
		t.Errorf("no test was run:\n%s", out)
	}
}

func hasChildren(name string, all map[string]string) bool {
	for other := range all {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// TestEveryRoomThatAsksIsListed: every room that uses this package is run with stubs.
func TestEveryRoomThatAsksIsListed(t *testing.T) {
	var all []byte
	for _, dir := range []string{"../..", "../../bench"} { // bench is a module of its own
		cmd := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}}", "./...")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, out...)
	}
	for line := range strings.Lines(string(all)) {
		path, imports, _ := strings.Cut(line, " ")
		room := strings.TrimPrefix(path, module)
		if strings.Contains(imports, module+"internal/needs") && foreign[room] == "" && foreign[indirect[room]] == "" {
			t.Errorf("%s asks for programs of other languages: say in foreign which of its tests do", room)
		}
	}
}
