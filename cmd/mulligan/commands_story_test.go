package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

// storyCommands are more commands for stories:
//
//	exits CODE PROGRAM [ARG…]               like exec; the program must end with exactly this code
//	newest NAME                             set $NAME to the newest run's id
//	beginning RUN NAME                      set $NAME to the beginning of a run's id, as long as it is unique
//	suggests ACTION KIND PRIMARY [MODEL]    stdout, a run's events, ends with one suggestion that is complete
//	                                        (spec §6): this action, for a failure of this kind, this button first
//	jsonlines STATUS                        stdout is valid JSON lines, numbered without a gap, whose last is the
//	                                        run's end with that status; "suggested" is an open suggestion
//	interrupt TEXT CODE PROGRAM [ARG…]      like exits, but once it has printed TEXT it gets SIGINT, and then has 2 s;
//	                                        the text @N waits until the provider was asked N times in all
//	terminate TEXT CODE PROGRAM [ARG…]      likewise with SIGTERM
//	wires [MODEL…]                          the provider was asked for these models in this order, each on its wire
//	serving [ARG…]                          start "faults serve" on a free port, set $FAULTS_URL, and write mulligan.yaml
//	asking N                                ask it N times; stdout is the statuses
//	until REGEXP PROGRAM [ARG…]             run it again and again, for at most 20 s, until what it prints matches
//	nowhere TEXT FOLDER                     no file under FOLDER holds TEXT
//	served [TEXT]                           end it as Ctrl-C does, once it has printed TEXT; stdout is all it printed
func storyCommands() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, []string){
		"exits": exits, "newest": newest, "beginning": beginning, "suggests": suggests, "jsonlines": jsonLines,
		"interrupt": interrupt, "wires": askedOn, "serving": serving, "served": served, "asking": asking, "until": until, "policy": policy,
		"nowhere": nowhere, "terminate": terminate,
	}
	list := map[string]func(*testscript.TestScript, bool, []string){}
	for name, do := range commands {
		list[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s cannot be negated", name)
			}
			do(ts, args)
		}
	}
	return list
}

func nowhere(ts *testscript.TestScript, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: nowhere TEXT FOLDER")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if bytes.Contains(content, []byte(args[0])) {
			return fmt.Errorf("%s holds %q", name, args[0])
		}
		return err
	}))
}

func exits(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	exited(ts, err, args[0])
}

func until(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: until REGEXP PROGRAM [ARG…]")
	}
	wanted, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
		out, _ := cmd.CombinedOutput()
		if wanted.Match(out) {
			fmt.Fprint(ts.Stdout(), string(out))
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("it never printed %s, but:\n%s", args[0], out)
		}
	}
}

func exited(ts *testscript.TestScript, err error, want string) {
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, not %s", code, want)
	}
}

func beginning(ts *testscript.TestScript, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: beginning RUN NAME")
	}
	ts.Setenv(args[1], args[0][:14])
}

func newest(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: newest NAME")
	}
	ts.Check(ts.Exec("mulligan", "runs", "list", "--json", "--limit", "1"))
	var line struct{ Run string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &line))
	ts.Setenv(args[0], line.Run)
}

// readEvents reads stdout as a run's events, which must be numbered from 1 on.
func readEvents(ts *testscript.TestScript) []recovery.Event {
	var events []recovery.Event
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var delta struct{ Delta *show.DeltaBody }
		ts.Check(json.Unmarshal([]byte(line), &delta))
		if delta.Delta != nil {
			continue
		}
		var e recovery.Event
		ts.Check(json.Unmarshal([]byte(line), &e))
		events = append(events, e)
		if e.Seq != uint64(len(events)) {
			ts.Fatalf("event %d has the number %d", len(events), e.Seq)
		}
	}
	if len(events) == 0 {
		ts.Fatalf("there is no event on stdout")
	}
	return events
}

func jsonLines(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: jsonlines STATUS")
	}
	events := readEvents(ts)
	last := events[len(events)-1]
	if last.Type() == "suggested" && args[0] == "suggested" {
		return
	}
	end, ok := last.Body.(recovery.Ended)
	if !ok || string(end.Status) != args[0] {
		ts.Fatalf("the last event is %T %+v", events[len(events)-1].Body, end)
	}
}

func suggests(ts *testscript.TestScript, args []string) {
	if len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: suggests ACTION KIND PRIMARY [MODEL]")
	}
	events := readEvents(ts)
	last, ok := events[len(events)-1].Body.(recovery.Suggested)
	if !ok {
		ts.Fatalf("the last event is %T", events[len(events)-1].Body)
	}
	raw, err := json.Marshal(last.Suggestion)
	ts.Check(err)
	fields := map[string]json.RawMessage{}
	ts.Check(json.Unmarshal(raw, &fields))
	for _, name := range []string{"suggestedAction", "attempt", "id", "expiresAt", "title", "message", "error", "decidedBy", "actions", "tried"} {
		if len(fields[name]) == 0 {
			ts.Fatalf("%s is missing in %s", name, raw)
		}
	}
	s := last.Suggestion
	model := strings.Join(args[3:], "")
	if string(s.SuggestedAction) != args[0] || string(s.Error.Kind) != args[1] || s.NewModel != model {
		ts.Fatalf("suggests %s %q for %s", s.SuggestedAction, s.NewModel, s.Error.Kind)
	}
	if s.Attempt != 0 || !s.ExpiresAt.After(time.Now()) || s.DecidedBy.Plugin == "" || len(s.Tried) != 1 || s.Tried[0].Attempt != 0 {
		ts.Fatalf("attempt, expiresAt, decidedBy or tried: %s", raw)
	}
	if problem := buttonProblem(s.Actions, args[2]); problem != "" {
		ts.Fatalf("%s: %s", problem, raw)
	}
}

func buttonProblem(buttons []recovery.Button, primary string) string {
	seen := map[string]bool{}
	for _, b := range buttons {
		switch {
		case b.ID == "" || b.Kind == "" || b.Label == "" || seen[b.ID]:
			return "a button without id, kind or label, or twice the same"
		case b.Effect != recovery.EffectRunner && b.Effect != recovery.EffectClient:
			return "the effect of a button"
		case b.Kind == recovery.ButtonSwitchModel && b.Model == "":
			return "a switch without its model"
		case b.Primary != (b.Kind == primary && !seen[primary]):
			return "the primary button"
		}
		seen[b.ID], seen[b.Kind] = true, true
	}
	if !seen[primary] {
		return "no primary button"
	}
	return ""
}

// watcher passes output on and tells when a text was seen in it.
type watcher struct {
	text string
	seen chan struct{}
	once sync.Once // closes seen

	mu  sync.Mutex
	all bytes.Buffer
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(p)
	if strings.Contains(w.all.String(), w.text) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

func interrupt(ts *testscript.TestScript, args []string) { signalOnce(ts, args, syscall.SIGINT) }

func terminate(ts *testscript.TestScript, args []string) { signalOnce(ts, args, syscall.SIGTERM) }

// signalOnce runs a program, and sends it a signal once it has printed something.
func signalOnce(ts *testscript.TestScript, args []string, sent os.Signal) {
	if len(args) < 3 {
		ts.Fatalf("usage: interrupt|terminate TEXT CODE PROGRAM [ARG…]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environ(ts)
	out := &watcher{text: args[0], seen: make(chan struct{})}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	ts.Check(cmd.Start())
	if n, ok := strings.CutPrefix(args[0], "@"); ok {
		lab := theLab(ts)
		go func() {
			defer out.once.Do(func() { close(out.seen) })
			for ctx.Err() == nil && strconv.Itoa(len(lab.Requests())) != n {
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case <-out.seen:
		begun := time.Now()
		ts.Check(cmd.Process.Signal(sent))
		err = <-ended
		if took := time.Since(begun); took > 10*time.Second {
			ts.Fatalf("it took %s to stop", took)
		}
	case err = <-ended:
		ts.Fatalf("it ended before it was interrupted: %v\n%s%s", err, out, stderr.String())
	}
	fmt.Fprint(ts.Stdout(), out.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	exited(ts, err, args[1])
}

// environ is the environment that matters to the program under test.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LAB_KEY", "NO_COLOR", "GORACE", server.ToolDelayEnv} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

func askedOn(ts *testscript.TestScript, want []string) {
	var got []string
	for _, r := range theLab(ts).Requests() {
		if r.Refused != "" {
			ts.Fatalf("the provider refused: %s\n%s", r.Refused, r.Body)
		}
		got = append(got, r.Wire+":"+r.Model)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		ts.Fatalf("asked: %v", got)
	}
}

// unruly is a plugin that does what its argument says when it is asked or, for garbage-first and
// exit-first, before its handshake. witness reports what a plugin is given.
func witness(e plugin.Event) string {
	state := os.Getenv("XDG_STATE_HOME")
	files, _ := os.ReadDir(state)
	return fmt.Sprintf("dry run %v, token “%s”, state %d files, time %v", e.DryRun, os.Getenv("PAGER_TOKEN"), len(files), !e.Time.IsZero())
}

func unruly() {
	deed := ""
	if len(os.Args) > 1 {
		deed = os.Args[1]
	}
	switch deed {
	case "garbage-first":
		fmt.Println("\x00\xffnot a handshake")
		time.Sleep(time.Minute)
	case "exit-first":
		os.Exit(3)
	}
	plugin.Serve(plugin.Func(func(_ context.Context, e plugin.Event) (plugin.Decision, error) {
		switch deed {
		case "panic":
			panic("boom")
		case "crash":
			go panic("boom")
			select {}
		case "hang":
			time.Sleep(time.Minute)
		case "garbage":
			for range 1000 {
				fmt.Println("\x00\xff{not a protocol}")
			}
		case "talk":
			fmt.Fprintln(os.Stderr, "\x1b[31mplain\x07 words")
			fmt.Fprintln(os.Stderr, `{"@level":"warn","@message":"careful \u001b[2J","run":"r1","n":1}`)
		case "tell":
			return plugin.Fail("the token is “" + os.Getenv("PAGER_TOKEN") + "”, the key “" + os.Getenv("LAB_KEY") + "”, " + strconv.Itoa(len(e.Transcript)) + " messages"), nil
		case "witness":
			return plugin.Fail(witness(e)), nil
		case "fail":
			return plugin.Fail("it is not worth it"), nil
		case "nonsense":
			return plugin.Switch("nobody/nothing", "because"), nil
		}
		return plugin.None, nil
	}), occasions(deed)...)
}

// occasions are those that the plugin takes besides run_error, if what it does concerns calls or
// ends.
func occasions(deed string) []plugin.Option {
	say := func(v plugin.Verdict) plugin.Option {
		return plugin.WithBeforeCall(func(_ context.Context, c plugin.Call) (plugin.Verdict, error) {
			if c.Model != "fable/one" || c.Holds > 0 {
				return plugin.Allow, nil
			}
			v.Until = time.Now().Add(2 * time.Second) // later than its vote is written, on a busy machine too
			return v, nil
		})
	}
	switch deed {
	case "route":
		return []plugin.Option{say(plugin.Route("atlas/two", "after hours"))}
	case "hold":
		return []plugin.Option{say(plugin.Hold(time.Time{}, "the minute's budget is used up"))}
	case "refuse":
		return []plugin.Option{say(plugin.Refuse("it holds names of customers"))}
	case "break":
		return []plugin.Option{plugin.WithBeforeCall(func(context.Context, plugin.Call) (plugin.Verdict, error) { panic("boom") })}
	case "again":
		return []plugin.Option{plugin.WithToolError(func(_ context.Context, e plugin.ToolError) (plugin.ToolAdvice, error) {
			if e.RemainingTries > 0 {
				return plugin.RunAgain(0, "it may pass"), nil
			}
			return plugin.Tell("Do without "+e.Tool+".", "it stays down"), nil
		})}
	case "hear":
		return []plugin.Option{plugin.WithRunEnded(func(_ context.Context, e plugin.Ended) error {
			told := fmt.Sprintf("%s, recovered %v after %d of %d attempts failed: %v\n", e.Status, e.Recovered, e.FailedAttempts, e.Attempts, e.Kinds)
			return os.WriteFile(filepath.Join(plugin.StateDir(), "heard"), []byte(told), 0o600)
		})}
	}
	return nil
}
