package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// longAnswer is a run whose model said that many bytes, in lines, with quotes.
func (h *home) longAnswer(run string, size int) {
	h.Helper()
	store, err := sqlite.Open(h.Context(), h.state())
	if err != nil {
		h.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			h.Error(err)
		}
	}()
	lease, err := store.Claim(h.Context(), run, "test", time.Minute)
	if err != nil {
		h.Fatal(err)
	}
	const line = "It is 14 degrees in Oslo, and \"clear\" as people say there — so far.\n"
	policy := recovery.DefaultPolicy()
	policy.Models = []string{"fable/one"}
	var events []recovery.Event
	for i, body := range []recovery.Body{
		recovery.Started{Model: "fable/one", Input: []llm.Message{llm.User("hi")}, Policy: policy},
		recovery.Claimed{Owner: "test", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "fable/one"},
		recovery.Answered{Attempt: 1, Message: llm.Message{Role: llm.RoleAssistant, Model: "fable/one", Parts: []llm.Part{
			{Text: strings.Repeat(line, size/len(line))},
		}}, Stop: llm.StopEnd},
		recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"},
	} {
		events = append(events, recovery.Event{Run: run, Seq: uint64(i) + 1, Time: time.Now(), Body: body})
	}
	if err := store.Append(h.Context(), lease, 0, events...); err != nil {
		h.Fatal(err)
	}
	if err := store.Release(h.Context(), lease); err != nil {
		h.Fatal(err)
	}
}

// resident is what the program has in memory, in bytes: now (VmRSS), or at most since the last
// forgetPeak (VmHWM).
func (b *background) resident(what string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	said := regexp.MustCompile(what + `:\s+(\d+) kB`).FindSubmatch(status)
	if said == nil {
		b.Fatalf("no %s in %s", what, status)
	}
	kilobytes, err := strconv.Atoi(string(said[1]))
	if err != nil {
		b.Fatal(err)
	}
	return float64(kilobytes) * 1024
}

func (b *background) forgetPeak() {
	b.Helper()
	const peak = "5"
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.cmd.Process.Pid), []byte(peak), 0); err != nil {
		b.Fatal(err)
	}
}

// read makes a request and throws its answer away.
func (c *client) read(path string) error {
	req, err := http.NewRequestWithContext(c.Context(), http.MethodGet, c.url+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || n < 1<<20) {
		err = fmt.Errorf("%s: %d bytes of %s", path, n, resp.Status)
	}
	return err
}

// TestI44ALongAnswerIsReadInFourTimesItsSize: whoever reads a run with a long answer, and however
// many do, the program takes at most four times as much memory for it as the answer has. It is
// measured three times, since garbage is not always collected at the same moment, and the least
// counts. The figures:
//
//	go test ./cmd/mulligan -run TestI44ALongAnswer -v
func TestI44ALongAnswerIsReadInFourTimesItsSize(t *testing.T) {
	const size = 24 << 20
	h := newHome(t, "answer:All good.")
	h.program = asPeopleHaveIt(t)
	h.longAnswer("r1", size)
	for _, c := range []struct {
		name, path string
		abreast    int
	}{
		{"one read", "/v1/runs/r1", 1},
		{"16 reads at a time", "/v1/runs/r1", 16},
		{"one stream", "/v1/runs/r1/events", 1},
		{"16 streams at a time", "/v1/runs/r1/events", 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			least := 0.0
			for range 3 {
				if peak := h.peakOf(t, c.path, c.abreast) / size; least == 0 || peak < least {
					least = peak
				}
			}
			t.Logf("at most %.1f times the answer", least)
			if least > 4 {
				t.Errorf("the program takes %.1f times the answer", least)
			}
		})
	}
}

// asPeopleHaveIt is the program without the race detector, which takes memory of its own.
func asPeopleHaveIt(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "mulligan")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// peakOf is how much memory a program that has just started takes at most while it is read, above
// what it had.
func (h *home) peakOf(t *testing.T, path string, abreast int) float64 {
	t.Helper()
	c := h.serveHTTP()
	defer c.stop()
	idle := c.resident("VmRSS")
	c.forgetPeak()
	var all sync.WaitGroup
	for range abreast {
		all.Go(func() {
			if err := c.read(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return c.resident("VmHWM") - idle
}
