package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/faultlab"
)

// introduce says where the lab is, what it plays, and how a client comes to it.
func (o *faultsOrder) introduce(s *screen, url string, below *brokenTransports) {
	ink := s.ink
	say := func(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }
	say("%s %s", ink.bold("The fault lab listens at"), ink.bold(ink.cyan(url)))
	say("Open that address in a browser to see what is asked, and to change what is played.")
	say("")
	say("%s any key is right", ink.bold("Point a client here:"))
	say("  Anthropic   export ANTHROPIC_BASE_URL=%s ANTHROPIC_API_KEY=any", url)
	say("  OpenAI      export OPENAI_BASE_URL=%s/v1 OPENAI_API_KEY=any", url)
	say("  Google      export GOOGLE_GEMINI_BASE_URL=%s GEMINI_API_KEY=any", url)
	say("\n%s paste this, and choose one of claude, chat, gpt and flash by its wire", ink.bold("Mulligan itself:"))
	say("%s", labConfig(url))
	say("%s", ink.bold("What it plays"))
	for _, line := range o.plan() {
		say("  %s", line)
	}
	say("  a client chooses by itself if it asks for the model row:A23, kind:overloaded or")
	say("  script:429:2s,answer:ok; `%s faults list` says what there is", invoked())
	below.introduce(s)
	say("\n%s\n", ink.dim("Ctrl-C ends it. What is asked:"))
}

// labConfig makes a config of Mulligan for the lab, an entry for each wire, and uses it.
func labConfig(url string) string {
	return strings.NewReplacer("URL", url, "MULLIGAN", invoked()).Replace(`cat > lab.yaml <<'END'
providers:
  claude: {type: anthropic, base_url: "URL", key_env: LAB_KEY}
  chat: {type: openai, base_url: "URL/v1", key_env: LAB_KEY}
  gpt: {type: openai-responses, base_url: "URL/v1", key_env: LAB_KEY}
  flash: {type: gemini, base_url: "URL", key_env: LAB_KEY}
END
LAB_KEY=any MULLIGAN run --config lab.yaml --model claude/row:A23 'Hello'
`)
}

// plan says what is played for which models.
func (o *faultsOrder) plan() []string {
	var lines []string
	for _, m := range o.models {
		model, script, _ := strings.Cut(m, "=")
		lines = append(lines, clipped(model)+": "+clipped(script))
	}
	others := "all models"
	if len(lines) > 0 {
		others = "all other models"
	}
	named := strings.Join(append(append([]string{}, o.rows...), o.kinds...), ", ")
	switch {
	case o.script != "":
		lines = append(lines, others+": "+clipped(o.script))
	case o.answer != "":
		lines = append(lines, others+" answer: "+clipped(o.answer))
	case named != "" && !o.stormy():
		lines = append(lines, others+": "+clipped(named)+", one after the other; the last one repeats")
	default:
		lines = append(lines, others+" answer, and repeat what they were told")
	}
	if o.stormy() {
		lines = append(lines, o.storm(named))
	}
	return lines
}

// storm says which requests fail.
func (o *faultsOrder) storm(named string) string {
	var share []string
	if o.random {
		share = append(share, fmt.Sprintf("%g %% of all requests", o.rate*100)) //nolint:mnd // a percentage
	}
	switch {
	case o.every == 1:
		share = append(share, "every request")
	case o.every > 1:
		share = append(share, fmt.Sprintf("one of every %d", o.every))
	}
	return fmt.Sprintf("but %s fail: %s; again in the same way with --seed %d",
		strings.Join(share, ", and "), clipped(orElse(named, "any fault of the catalogue")), o.seed)
}

// faultsLog prints a line for each request.
type faultsLog struct {
	screen *screen
	mu     sync.Mutex
}

// goodSteps are the steps that are no fault.
var goodSteps = map[string]bool{"answer": true, "echo": true, "slow": true, "tool": true}

// request prints when it was asked, on which wire, for which model, what was played, and
// the status of HTTP.
func (l *faultsLog) request(r faultlab.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ink, status := l.screen.ink, "no HTTP"
	if r.Status > 0 {
		status = itoa(r.Status)
	}
	dress, played := ink.amber, oneLine(r.Step)
	switch {
	case r.Refused != "":
		dress, played = ink.red, "refused: "+words.Clip(oneLine(r.Refused), maxRefusal)
	case goodSteps[r.Step]:
		dress = ink.green
	}
	fmt.Fprintf(l.screen.out, "%s  %-9s  %-7s  %-20s  %s\n", r.At.Local().Format(time.TimeOnly), r.Wire,
		status, orElse(clipped(r.Model), "-"), dress(played))
}

const maxRefusal = 300 // bytes of a reason
