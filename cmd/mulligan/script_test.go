package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
)

func TestMain(m *testing.M) {
	program := func() {
		server.Slack = 4
		os.Exit(realMain())
	}
	testscript.Main(m, map[string]func(){
		"mulligan": program, "unruly": unruly, "notes-server": notesServer, "asks": asks,
		"claude": proxied, "codex": proxied, "opencode": proxied, "aider": proxied, "app": proxied,
	})
}

// briefStories are those that -short plays: each verb that people begin with, and one of
// each way in which a run may end.
var briefStories = []string{"success", "switch", "recover", "no-plugin", "plugin-crash", "fault-529", "config", "explain", "unknown-model"}

// TestStories plays testdata/*.txtar: stories of the command line, end to end. Beside
// testscript's own commands they may use
//
//	lab [FILE]             start a provider on loopback, set $LAB_URL, and write mulligan.yaml:
//	                       fable/one on Anthropic's wire, atlas/two on OpenAI's as its
//	                       fallback; with what FILE says added to it, $LAB_URL replaced
//	script MODEL SCRIPT    what the provider plays for one or two, as faultlab.Parse reads it
//	requests N [MODEL]     the provider was asked so often
//	elsewhere              stdout, a run's events, has votes, all from other processes than its own
//
// and those of storyCommands.
func TestStories(t *testing.T) {
	which := testscript.Params{Dir: "testdata"}
	if testing.Short() {
		which.Dir = ""
		for _, name := range briefStories {
			which.Files = append(which.Files, filepath.Join("testdata", name+".txtar"))
		}
		t.Run("others", func(t *testing.T) { t.Skip("all stories but", strings.Join(briefStories, ", ")) })
	}
	commands := storyCommands()
	maps.Copy(commands, map[string]func(*testscript.TestScript, bool, []string){
		"lab": startLab, "script": setScript, "requests": countRequests, "elsewhere": elsewhere,
	})
	which.RequireExplicitExec, which.Setup, which.Cmds = true, setup, commands
	testscript.Run(t, which)
}

// labKey is where a story keeps its lab.
type labKey struct{}

type storyLab struct {
	lab    *faultlab.Lab
	faults *servedFaults
}

// quickExit is for GORACE: a program under the race detector else waits 1 s when it ends.
const quickExit = "atexit_sleep_ms=0"

func setup(env *testscript.Env) error {
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("LAB_KEY", "any")
	env.Setenv("NO_COLOR", "1")
	env.Setenv("GORACE", quickExit)
	env.Values[labKey{}] = &storyLab{}
	return nil
}

func startLab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: lab [FILE]")
	}
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() {
		_ = lab.Close()
		_ = server.Close()
	})
	ts.Value(labKey{}).(*storyLab).lab = lab
	ts.Setenv("LAB_URL", server.URL())
	ts.Setenv("LAB_ADDRESS", strings.TrimPrefix(server.URL(), "http://"))
	config := fmt.Sprintf(`model: fable/one
fallbacks: [atlas/two]
providers:
  fable: {type: anthropic, base_url: %q, key_env: LAB_KEY}
  atlas: {type: openai, base_url: %q, key_env: LAB_KEY}
`, server.URL(), server.URL()+"/v1")
	if len(args) == 1 {
		config += strings.ReplaceAll(ts.ReadFile(args[0]), "$LAB_URL", server.URL())
	}
	if !strings.Contains(config, "plugins:") {
		config += "plugins: [{name: auto-recover, env: [GORACE]}]\n" // the default, which ends without quickExit's second
	}
	ts.Check(os.WriteFile(ts.MkAbs("mulligan.yaml"), []byte(config), 0o600))
}

func theLab(ts *testscript.TestScript) *faultlab.Lab {
	lab := ts.Value(labKey{}).(*storyLab).lab
	if lab == nil {
		ts.Fatalf("there is no lab: start one with the command lab")
	}
	return lab
}

func setScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: script MODEL SCRIPT")
	}
	steps, err := faultlab.Parse(args[1])
	ts.Check(err)
	theLab(ts).Script(args[0], steps...)
}

func countRequests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: requests N [MODEL]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	n := 0
	for _, r := range theLab(ts).Requests() {
		if len(args) == 1 || r.Model == args[1] {
			n++
		}
	}
	if n != want {
		ts.Fatalf("the provider was asked %d times, not %d", n, want)
	}
}

// driven reports whether one of a run's owners was the process pid.
func driven(owners map[string]bool, pid int) bool {
	for owner := range owners {
		if strings.Contains(owner, fmt.Sprintf("-%d-", pid)) {
			return true
		}
	}
	return false
}

func elsewhere(ts *testscript.TestScript, neg bool, _ []string) {
	if neg {
		ts.Fatalf("usage: elsewhere")
	}
	owners, voters := map[string]bool{}, 0
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var e recovery.Event
		ts.Check(json.Unmarshal([]byte(line), &e))
		switch b := e.Body.(type) {
		case recovery.Claimed:
			owners[b.Owner] = true
		case recovery.Voted:
			voters++
			if b.Vote.PID <= 0 || driven(owners, b.Vote.PID) {
				ts.Fatalf("vote of process %d; the run's: %v", b.Vote.PID, owners)
			}
		}
	}
	if voters == 0 || len(owners) == 0 {
		ts.Fatalf("%d votes, %d owners", voters, len(owners))
	}
}
