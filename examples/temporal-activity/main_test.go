package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// provider speaks as OpenAI's models do: each request gets the next of the answers, the last one from then on. "" is
// overloaded, and "…" says nothing for as long as it is waited for.
func provider(t *testing.T, answers ...string) string {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch answer := answers[min(int(asked.Add(1)), len(answers))-1]; answer {
		case "":
			http.Error(w, `{"error":{"message":"overloaded"}}`, http.StatusServiceUnavailable)
		case "…":
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", answer)
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// program is `mulligan`, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mulligan")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "mulligan")
	if out, err := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", file, "./cmd/mulligan").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if file, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(file))
	}
	os.Exit(code)
}

// serve starts a `mulligan serve` that asks a provider, until the test ends.
func serve(t *testing.T, provider string) *Mulligan {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := "model: lab/one\nproviders:\n  lab: {type: openai, base_url: \"" + provider + "\", key_env: LAB_KEY}\n" +
		"plugins:\n  - {name: auto-recover, config: {retries: {delays: [10ms], jitter: 0}}}\n"
	if err := os.WriteFile(filepath.Join(dir, "mulligan.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), file, "serve", "--listen", "127.0.0.1:0", "--json")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir, "LAB_KEY=any"}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	var said struct{ URL string }
	lines := bufio.NewScanner(out)
	for said.URL == "" && lines.Scan() {
		_ = json.Unmarshal(lines.Bytes(), &said)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	token, err := os.ReadFile(filepath.Join(dir, "mulligan", "token"))
	if err != nil || said.URL == "" {
		t.Fatalf("it serves at %q: %v", said.URL, err)
	}
	asks, err := client.New(said.URL, client.WithToken(strings.TrimSpace(string(token))))
	if err != nil {
		t.Fatal(err)
	}
	return &Mulligan{Gateway: asks}
}

func (m *Mulligan) runs(t *testing.T) (list []client.Listed) {
	t.Helper()
	for one, err := range m.Gateway.Runs(t.Context(), client.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

// TestRun: the activity gives the answer of a run that recovered from a failure, and tells Temporal that it lives.
func TestRun(t *testing.T) {
	m := serve(t, provider(t, "", "A second shot."))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(m)
	var beats atomic.Int32
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats.Add(1) })
	value, err := env.ExecuteActivity(m.Run, client.Start{Prompt: "What is a mulligan?"})
	var answer string
	if err != nil || value.Get(&answer) != nil || answer != "A second shot." {
		t.Fatalf("%q, %v", answer, err)
	}
	if list := m.runs(t); len(list) != 1 || list[0].Kind != failure.KindOverloaded || beats.Load() == 0 {
		t.Errorf("%+v, %d heartbeats", list, beats.Load())
	}
}

// TestAnswer: a workflow whose activity is tried again, since what it gave was lost, finds the same run, and the model is
// not asked again.
func TestAnswer(t *testing.T) {
	m := serve(t, provider(t, "A second shot.", "A third shot."))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	tries := int32(0)
	env.RegisterActivityWithOptions(func(ctx context.Context, start client.Start) (string, error) {
		answer, err := m.Run(ctx, start)
		if tries = activity.GetInfo(ctx).Attempt; tries == 1 {
			return "", errors.New("the worker died")
		}
		return answer, err
	}, activity.RegisterOptions{Name: "Run"})
	env.ExecuteWorkflow(Answer, "What is a mulligan?")
	var answer string
	if err := env.GetWorkflowResult(&answer); err != nil || answer != "A second shot." || tries != 2 {
		t.Fatalf("%q after %d tries, %v", answer, tries, err)
	}
	if list := m.runs(t); len(list) != 1 || list[0].Status != recovery.StatusCompleted {
		t.Errorf("%+v", list)
	}
}

// TestCancel: who cancels the workflow ends the run; a worker that ends does not.
func TestCancel(t *testing.T) {
	for cause, want := range map[error]recovery.Status{temporal.NewCanceledError(): recovery.StatusCancelled, context.Canceled: recovery.StatusRunning} {
		m := serve(t, provider(t, "…"))
		id, err := m.Gateway.Start(t.Context(), client.Start{Prompt: "What is a mulligan?"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := m.left(ctx, id); err == nil {
			t.Error("the activity succeeds")
		}
		run, err := m.Gateway.Run(t.Context(), id)
		if err != nil || run.Status != want {
			t.Errorf("after %v the run is %s, %v", cause, run.Status, err)
		}
		if err := m.Gateway.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}
