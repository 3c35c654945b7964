// Command demo has a small agent, built on OpenAI's own SDK, ask the demo's provider through
// `mulligan proxy`. The provider falls silent in the middle of a sentence, and another model
// ends the sentence, over another wire. The agent sees one answer.
//
//	go run ./demo MULLIGAN AGENT    (the two programs; make demo-proxy builds them)
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

const (
	said = "It is 14 °C and clear in Os" // when the provider falls silent
	rest = "lo: a light jacket is enough."
	pace = 60 * time.Millisecond // between words, so that people can watch
)

const config = `
timeouts: {idle: 3s}              # the provider may be silent for so long; two minutes by default
providers:
  fable: {type: anthropic, base_url: URL, key_env: DEMO_KEY}
  atlas: {type: openai, base_url: URL/v1, key_env: DEMO_KEY}
proxy:
  routes:
    - {match: "*", models: [fable/` + faultlab.DemoModel + `, atlas/` + faultlab.DemoFallback + `], mode: continue}
`

// wires are the names of the provider's wires.
var wires = map[string]string{"anthropic": "Anthropic's wire", "openai": "OpenAI's wire"}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: demo MULLIGAN AGENT; make demo-proxy builds both")
		os.Exit(2)
	}
	if err := play(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func play(mulligan, agent string) error {
	dir, err := os.MkdirTemp("", "mulligan-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // nothing is to be done about it
	out := &narrator{to: os.Stdout}
	lab := faultlab.New(faultlab.WithPace(pace), faultlab.WithWatch(func(q faultlab.Request) {
		out.aside(fmt.Sprintf("%s is asked, over %s", q.Model, wires[q.Wire]))
	}))
	lab.Script(faultlab.DemoModel, faultlab.ToolCall(faultlab.DemoTool, `{"city":"Oslo"}`), faultlab.StallAfter(said))
	lab.Script(faultlab.DemoFallback, faultlab.Answer(rest))
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = lab.Close(); _ = server.Close() }()
	file := filepath.Join(dir, "mulligan.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(config, "URL", server.URL())), 0o600); err != nil {
		return err
	}
	fmt.Printf("An agent built on OpenAI's SDK asks for %s. Its base URL is the proxy's; that is all it knows.\n", faultlab.DemoModel)
	fmt.Printf("%s falls silent in the middle of a sentence. The config:\n%s\n", faultlab.DemoModel, config)
	var line bytes.Buffer
	cmd := exec.Command(mulligan, "proxy", "--config", file, "--state", filepath.Join(dir, "state"), "--", agent, "-model", faultlab.DemoModel, "openai")
	cmd.Env = append(os.Environ(), "DEMO_KEY=none-is-needed")
	cmd.Stdout, cmd.Stderr = out, &line
	fmt.Println("> " + faultlab.DemoPrompt)
	if err := cmd.Run(); err != nil {
		return errors.Join(err, errors.New(strings.TrimSpace(line.String())))
	}
	fmt.Printf("\n%s\nThe agent has one answer: %s\n", strings.TrimSpace(line.String()), strings.TrimSpace(out.heard.String()))
	return nil
}

// narrator prints what the agent prints and, in lines between, what the agent does not see.
type narrator struct {
	mu    sync.Mutex
	to    io.Writer
	heard strings.Builder
	open  bool // a line has begun
}

func (n *narrator) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard.Write(p)
	n.open = !bytes.HasSuffix(p, []byte("\n"))
	return n.to.Write(p)
}

func (n *narrator) aside(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open {
		fmt.Fprintln(n.to)
	}
	n.open = false
	fmt.Fprintf(n.to, "    [%s]\n", text)
}
