package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/runner"
)

// BenchmarkStreamBifrost measures the call of BenchmarkStream through the core of Bifrost, which
// decides nothing and stores nothing here, in turns with the same call through the runner and with
// bare net/http. The core runs in a program of its own (bench/bifrost), since it is in a module of
// its own.
func BenchmarkStreamBifrost(b *testing.B) {
	url := process(b, roleProvider)
	core := startBifrost(b, url)
	dial := (&net.Dialer{}).DialContext
	r := runner.New(runner.WithModel("lab/"+steady, adapter(b, url, dial)))
	client := newBare(url, dial)
	var theirs, ours, bare calls
	check := func(text string, err error) { checkAnswer(b, text, err) }
	for b.Loop() {
		core.time(b, &theirs)
		bare.time(b, func() { check(client.ask(b.Context(), steady, "hi")) })
		ours.time(b, func() { check(r.Run(b.Context(), "hi")) })
	}
	theirs.report(b, "")
	bare.report(b, base)
	ours.report(b, "runner-")
}

// bifrost is a process of bench/bifrost.
type bifrost struct {
	in  io.Writer
	out *bufio.Reader
}

// startBifrost builds the program and starts it. If its module cannot be downloaded nothing is
// measured.
func startBifrost(b *testing.B, url string) bifrost {
	b.Helper()
	program := filepath.Join(b.TempDir(), "bifrost")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", program, ".")
	build.Dir, build.Stderr = "bifrost", os.Stderr
	if err := build.Run(); err != nil {
		b.Skip("NOT MEASURED: bench/bifrost cannot be built: ", err)
	}
	cmd := exec.CommandContext(b.Context(), program, url, steady, answerText)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	p := bifrost{in: in, out: bufio.NewReader(out)}
	if ready, err := p.out.ReadString('\n'); ready != "ready\n" {
		b.Fatalf("bench/bifrost says %q, %v", ready, err)
	}
	return p
}

// time has the process make a turn of calls, which the process times itself.
func (p bifrost) time(b *testing.B, c *calls) {
	b.Helper()
	if _, err := fmt.Fprintln(p.in, turn); err != nil {
		b.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		b.Fatal("bench/bifrost has ended: ", err)
	}
	var spent struct {
		Spans  spans         `json:"spans"`
		CPU    time.Duration `json:"cpu"`
		Allocs uint64        `json:"allocs"`
	}
	if err := json.Unmarshal(line, &spent); err != nil || len(spent.Spans) != turn {
		b.Fatalf("bench/bifrost says %q, %v", line, err)
	}
	c.spans = append(c.spans, spent.Spans...)
	c.cpu += spent.CPU
	c.allocated += spent.Allocs
}
