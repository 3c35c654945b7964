package devtools

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/devlink"
	"github.com/mulligan-run/mulligan/recovery"
)

// remembering is a plugin that remembers what it was asked.
type remembering struct {
	asked []hooks.Occasion
	vote  recovery.Vote
	err   error
}

func (r *remembering) Advise(_ context.Context, about hooks.Occasion) (recovery.Vote, error) {
	r.asked = append(r.asked, about)
	return r.vote, r.err
}

// TestADevPluginIsAskedAsAnyOther sends questions about every occasion, and their answers, through
// the socket.
func TestADevPluginIsAskedAsAnyOther(t *testing.T) {
	question := hooks.RunError{
		Run: "r1", Session: "s", Failure: *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, nil),
		Model: "a/b", Attempt: 2, Retries: 1, MaxRetries: 3, AutoRecover: true, Elapsed: 7, Remaining: recovery.Budget{Tokens: -1},
		RemainingAttempts: 4, RemainingTime: 9, Tried: []recovery.Tried{{Model: "a/b", At: time.Unix(5, 0).UTC()}},
		Alternatives: []recovery.Alternative{{Model: "c/d", ContextTokens: 5}}, ReplaySafety: hooks.ReplayUnsafe, UnsafeTools: []string{"pay"},
		PartialShown: true, IdleBreaker: true, IdleExpiries: 5,
	}
	vote := recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "c/d", Delay: 4, Version: "1", PID: 5, Reason: "r", Adjust: recovery.Adjust{Compact: true}}
	hook := &remembering{vote: vote}
	listener, folder, err := devlink.Socket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	server := &http.Server{Handler: devlink.Handler(hook, func(hooks.Occasion, recovery.Vote, error, time.Duration) {}), ReadHeaderTimeout: time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	asked := devlink.NewHook(&devlink.Link{Network: "unix", Addr: listener.Addr().String()}, 5*time.Second)
	answer, err := asked.Advise(t.Context(), question)
	if diff := cmp.Diff(vote, answer); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	others := []hooks.Occasion{
		hooks.BeforeCall{Run: "r1", Model: recovery.Alternative{Model: "a/b"}, Round: 2, Holds: 1, Time: time.Unix(5, 0).UTC()},
		hooks.ToolError{Run: "r1", Tool: "search", Safety: recovery.SafetyIdempotent, Tries: 1, TimedOut: true, Error: "busy", Time: time.Unix(5, 0).UTC()},
		hooks.RunEnded{Run: "r1", Status: recovery.StatusCompleted, Recovered: true, Time: time.Unix(5, 0).UTC()},
	}
	for _, other := range others {
		if _, err := asked.Advise(t.Context(), other); err != nil {
			t.Errorf("%T: %v", other, err)
		}
	}
	if diff := cmp.Diff(append([]hooks.Occasion{question}, others...), hook.asked, cmp.AllowUnexported(failure.Failure{})); diff != "" {
		t.Error(diff)
	}
	hook.vote, hook.err = recovery.Vote{PID: 6}, errors.New("boom")
	if answer, err := asked.Advise(t.Context(), question); err == nil || err.Error() != "boom" || answer.PID != 6 {
		t.Errorf("an error: %+v, %v", answer, err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if _, err := asked.Advise(t.Context(), question); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("nobody is there: %v", err)
	}
}

func TestADevLinkThatOthersCouldWriteIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dev", "a.json")
	link := &devlink.Link{Protocol: devlink.Protocol, Name: "a", Network: "unix", Addr: "/x", PID: 1}
	if err := link.Write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := devlink.Read(path); err != nil || *got != *link {
		t.Fatal(got, err)
	}
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := devlink.Read(path); err == nil {
		t.Error("a file that others can write is read")
	}
	other := filepath.Join(filepath.Dir(path), "link.json")
	if err := os.Symlink(path, other); err != nil {
		t.Fatal(err)
	}
	if _, err := devlink.Read(other); err == nil {
		t.Error("a symbolic link is followed")
	}
}

// TestAFolderIsWatched: changes of the plugin's content are noticed, and no others.
func TestAFolderIsWatched(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("run", "#!/bin/sh\n")
	write("lib/a", "one")
	same := outline(dir)
	write(".git/index", "x")
	write("lib/__pycache__/a.pyc", "x")
	if outline(dir) != same {
		t.Error("what is not the plugin's counts")
	}
	ctx, stop := context.WithCancel(t.Context())
	changes, over := make(chan struct{}, 9), make(chan struct{})
	watch := newFolderWatch(host.Spec{Name: "a", Command: []string{filepath.Join(dir, "run")}}, dir)
	go func() {
		defer close(over)
		watch.run(ctx, func() { changes <- struct{}{} })
	}()
	write("lib/a", "one") // only the modification time changes
	select {
	case <-changes:
		t.Error("the same content counts as a change")
	case <-time.After(4 * devPoll):
	}
	write("lib/a", "two")
	select {
	case <-changes:
	case <-time.After(20 * time.Second):
		t.Error("a change is not seen")
	}
	stop()
	<-over
}
