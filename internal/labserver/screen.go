package labserver

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/show"
)

// introduce says where the lab is, what it plays, and how a client comes to it.
func (o *Order) introduce(s *show.Screen, url string, below *brokenTransports) {
	ink := s.Ink
	say := func(format string, args ...any) { fmt.Fprintf(s.Out, format+"\n", args...) }
	say("%s %s", ink.Bold("The fault lab listens at"), ink.Bold(ink.Cyan(url)))
	say("Open that address in a browser to see what is asked, and to change what is played.")
	say("")
	say("%s any key is right", ink.Bold("Point a client here:"))
	say("  Anthropic   export ANTHROPIC_BASE_URL=%s ANTHROPIC_API_KEY=any", url)
	say("  OpenAI      export OPENAI_BASE_URL=%s/v1 OPENAI_API_KEY=any", url)
	say("  Google      export GOOGLE_GEMINI_BASE_URL=%s GEMINI_API_KEY=any", url)
	say("\n%s paste this, and choose one of claude, chat, gpt and flash by its wire", ink.Bold("Mulligan itself:"))
	say("%s", labConfig(url))
	say("%s", ink.Bold("What it plays"))
	for _, line := range o.plan() {
		say("  %s", line)
	}
	say("  a client chooses by itself if it asks for the model row:A23, kind:overloaded or")
	say("  script:429:2s,answer:ok; `%s faults list` says what there is", show.Invoked())
	below.introduce(s)
	say("\n%s\n", ink.Dim("Ctrl-C ends it. What is asked:"))
}

// labConfig prints a Mulligan config for the lab, with an entry for each wire, and how
// to use it.
func labConfig(url string) string {
	return strings.NewReplacer("URL", url, "MULLIGAN", show.Invoked()).Replace(`cat > lab.yaml <<'END'
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
func (o *Order) plan() []string {
	var lines []string
	for _, m := range o.Models {
		model, script, _ := strings.Cut(m, "=")
		lines = append(lines, show.Clipped(model)+": "+show.Clipped(script))
	}
	others := "all models"
	if len(lines) > 0 {
		others = "all other models"
	}
	named := strings.Join(append(append([]string{}, o.Rows...), o.Kinds...), ", ")
	switch {
	case o.Script != "":
		lines = append(lines, others+": "+show.Clipped(o.Script))
	case o.Answer != "":
		lines = append(lines, others+" answer: "+show.Clipped(o.Answer))
	case named != "" && !o.stormy():
		lines = append(lines, others+": "+show.Clipped(named)+", one after the other; the last one repeats")
	default:
		lines = append(lines, others+" answer, and repeat what they were told")
	}
	if o.stormy() {
		lines = append(lines, o.storm(named))
	}
	return lines
}

// storm says which requests fail.
func (o *Order) storm(named string) string {
	var share []string
	if o.Random {
		share = append(share, fmt.Sprintf("%g %% of all requests", o.Rate*100)) //nolint:mnd // a percentage
	}
	switch {
	case o.Every == 1:
		share = append(share, "every request")
	case o.Every > 1:
		share = append(share, fmt.Sprintf("one of every %d", o.Every))
	}
	return fmt.Sprintf("but %s fail: %s; again in the same way with --seed %d",
		strings.Join(share, ", and "), show.Clipped(cmp.Or(named, "any fault of the catalogue")), o.Seed)
}

// faultsLog prints a line for each request.
type faultsLog struct {
	screen *show.Screen
	mu     sync.Mutex
}

// goodSteps are the steps that are not faults.
var goodSteps = map[string]bool{"answer": true, "echo": true, "slow": true, "tool": true}

// request prints a request's time, wire and model, what was played, and the HTTP status.
func (l *faultsLog) request(r faultlab.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ink, status := l.screen.Ink, "no HTTP"
	if r.Status > 0 {
		status = strconv.Itoa(r.Status)
	}
	dress, played := ink.Amber, terminal.OneLine(r.Step)
	switch {
	case r.Refused != "":
		dress, played = ink.Red, "refused: "+words.Clip(terminal.OneLine(r.Refused), maxRefusal)
	case goodSteps[r.Step]:
		dress = ink.Green
	}
	fmt.Fprintf(l.screen.Out, "%s  %-9s  %-7s  %-20s  %s\n", r.At.Local().Format(time.TimeOnly), r.Wire,
		status, cmp.Or(show.Clipped(r.Model), "-"), dress(played))
}

const maxRefusal = 300 // bytes of a reason
