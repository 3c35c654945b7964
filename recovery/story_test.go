package recovery

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

var rewrite = flag.Bool("rewrite", false, "write what the stories come to into testdata")

// storyMark parts what happens to a run from what the heart makes of it.
const storyMark = "----\n"

// TestStories plays testdata/*.txt. Above the mark a story says what the world is
// like, one word and its arguments a line:
//
//	policy auto retries=3 step=10s turn=5m run=1h progress=30s ttl=24h tokens=1000 plugins=p,q models=a/one,b/two
//	       caller=hold|error|continue keep=figures local=b/two prices=a/one:15,b/two:2
//	tool NAME SAFETY TOOK [BYTES]    SAFETY: unsafe, idempotent, read_only; TOOK may be "panic", or "lost": its outcome is unknown
//	tool NAME SAFETY TOOK fails=N    the first N tries of each call fail
//	tool NAME SAFETY TOOK caller     the program that started the run carries it out, and has 5 min for it
//	tool NAME SAFETY TOOK approval   a person has to approve each call
//	cooling KIND FOR                 the run's model does, and nobody asked for it by name
//	model NAME answer TEXT | cut TEXT | call TOOL,TOOL | fail KIND [after=2s] [reset=2h] [timer=idle] [offline=5m] [shown=part] [continuable] | hang
//	plugin NAME KIND|* ACTION [MODEL] [DELAY] [below=N] [compact] [continue] [button=KIND] [pressed=KIND]
//	       [never=a/one,b/*] [price=N] [local]    what it forbids; ACTION none has no opinion
//	plugin NAME tool:TOOL ACTION [DELAY] [WORD]    of a tool that failed; WORD is what a tell says
//	person KIND|* ACTION             answers a suggestion about such a failure
//	wait ACTION                      answers a live wait
//	cut AFTER ACTION                 answers a model call that takes longer; the next line is about the next one
//	deploys N                        replace the process of each of the first N attempts, a second after it began
//	cancel ROUNDS                    ends the run once so many rounds are done
//
// Below it are the events, and after each the keys of the effects that Next wants.
func TestStories(t *testing.T) {
	for name, w := range stories(t) {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			y := newToy(w())
			y.watch = func(e Event, effects []Effect) { tell(&got, e, effects) }
			y.start(t)
			y.loop(t)
			compareStory(t, name, got.String())
		})
	}
}

func compareStory(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	above, want, _ := strings.Cut(string(content), storyMark)
	if got == want {
		return
	}
	if !*rewrite {
		t.Fatalf("the story goes otherwise (go test -run Stories -rewrite writes it down):\n%s", got)
	}
	if err := os.WriteFile(path, []byte(above+storyMark+got), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tell writes one event and what is wanted after it.
func tell(b *bytes.Buffer, e Event, effects []Effect) {
	if f, ok := e.Body.(Failed); ok { // its words are another test's business
		f.Failure.Title, f.Failure.Message = "", ""
		e.Body = f
	}
	data, err := json.Marshal(e.Body)
	if err != nil {
		panic(err)
	}
	if e.Type() == "started" || e.Type() == "suggested" {
		data = brief(e)
	}
	if len(data) > 1000 {
		data = append(data[:1000:1000], "…"...)
	}
	fmt.Fprintf(b, "%d %s %s %s\n", e.Seq, e.Time.Sub(begin), e.Type(), data)
	for _, effect := range effects {
		switch {
		case effect.Record != nil:
			fmt.Fprintf(b, "\trecord %s\n", effect.Record.eventType())
		case effect.Timer != nil:
			name := effect.Timer.Write.eventType()
			if due, ok := effect.Timer.Write.(Due); ok {
				name = string(due.Timer)
			}
			fmt.Fprintf(b, "\ttimer %s at %s\n", name, effect.Timer.At.Sub(begin))
		default:
			fmt.Fprintf(b, "\t%s\n", effect.Key)
		}
	}
}

func brief(e Event) []byte {
	s, ok := e.Body.(Suggested)
	if !ok {
		return nil
	}
	line := fmt.Sprintf("%s %s attempt=%d", s.Suggestion.ID, s.Suggestion.SuggestedAction, s.Suggestion.Attempt)
	if s.Suggestion.BlockedBy != "" {
		line += " blocked by " + s.Suggestion.BlockedBy
	}
	for _, a := range s.Suggestion.Actions {
		mark := ""
		if a.Primary {
			mark = "*"
		}
		line += fmt.Sprintf(" [%s%s]", a.Label, mark)
	}
	return []byte(line)
}

// stories reads testdata; every call of a story's function makes a fresh world.
func stories(t tb) map[string]func() *world {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	list := map[string]func() *world{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		above, _, _ := strings.Cut(string(content), storyMark)
		list[strings.TrimSuffix(filepath.Base(path), ".txt")] = func() *world { return parseStory(t, path, above) }
	}
	return list
}

// parseTool reads a tool's name, safety and time, and what else is said of it.
func (w *world) parseTool(t tb, path string, f []string) {
	t.Helper()
	name, took := f[0], f[2]
	o := toolOutcome{text: "result of " + name, panic: took == "panic", lost: took == "lost"}
	d, err := time.ParseDuration(took)
	if err != nil && !o.panic && !o.lost {
		t.Fatalf("%s: %v", path, err)
	}
	o.took = d
	decl := ToolDecl{Tool: llm.Tool{Name: name}, Safety: Safety(strings.TrimPrefix(f[1], "unsafe"))}
	for _, word := range f[3:] {
		fails, failing := strings.CutPrefix(word, "fails=")
		n, _ := strconv.Atoi(fails)
		switch {
		case word == ByCaller:
			decl.By, decl.Timeout = ByCaller, failure.InMillis(5*time.Minute)
		case word == "approval":
			decl.Approval = true
		case failing:
			o.fails = n
		default:
			o.text = strings.Repeat("x", n)
		}
	}
	w.tool[name], w.start.Tools = o, append(w.start.Tools, decl)
}

type opinion struct {
	plugin, kind string
	vote         Vote
	below        int
	pressed      string // the opinion is about a button of that kind
}

func parseStory(t tb, path, text string) *world {
	t.Helper()
	p := DefaultPolicy()
	p.Timeouts.ProgressAfter = 0
	w := &world{
		start:  Started{Model: "a/one", Input: []llm.Message{llm.User("hello")}},
		models: map[string][]outcome{}, tool: map[string]toolOutcome{},
	}
	var opinions []opinion
	person := map[string]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		switch f[0] {
		case "policy":
			parsePolicy(t, &p, f[1:])
		case "cooling":
			d, err := time.ParseDuration(f[2])
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			w.start.Cooling = &Cooldown{Model: w.start.Model, Kind: failure.Kind(f[1]), Until: begin.Add(d)}
		case "tool":
			w.parseTool(t, path, f[1:])
		case "model":
			w.models[f[1]] = append(w.models[f[1]], parseOutcome(t, len(w.models[f[1]]), f[2:]))
		case "plugin":
			opinions = append(opinions, parseOpinion(t, f[1:]))
		case "person":
			person[f[1]] = f[2]
		case "wait":
			w.onWait = func(*Run) string { return f[1] }
		case "cut":
			after, err := time.ParseDuration(f[1])
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			w.cuts = append(w.cuts, cutShort{after, f[2]})
		case "deploys":
			w.deploys, _ = strconv.ParseUint(f[1], 10, 64)
		case "cancel":
			rounds, _ := strconv.Atoi(f[1])
			w.cancel = func(r *Run) bool { return r.Rounds >= rounds }
		default:
			t.Fatalf("%s: what is %q?", path, line)
		}
	}
	w.start.Policy = p
	if p.Keep == KeepFigures {
		w.start.Input, w.start.Asked = []llm.Message{}, DigestOf([]byte("hello"))
	}
	w.vote = func(plugin string, r *Run) Vote { return voteOf(opinions, plugin, r) }
	w.toolVote = func(plugin string, t *ToolRun) Vote { return voteOnTool(opinions, plugin, t) }
	w.person = func(r *Run) string {
		if action := person[string(r.Open.Failure.Kind)]; action != "" {
			return action
		}
		return person["*"]
	}
	return w
}

func voteOf(opinions []opinion, plugin string, r *Run) Vote {
	for _, o := range opinions {
		if o.plugin == plugin && (o.kind == "*" || o.kind == string(r.Open.Failure.Kind)) && (o.below == 0 || r.Open.Attempt < o.below) && o.pressed == r.Open.Pressed {
			return o.vote
		}
	}
	return Vote{}
}

func voteOnTool(opinions []opinion, plugin string, t *ToolRun) Vote {
	for _, o := range opinions {
		if o.plugin == plugin && o.kind == "tool:"+t.Call.Name && (o.below == 0 || t.Tries < o.below) {
			v := o.vote
			v.Words, v.NewModel = v.NewModel, ""
			return v
		}
	}
	return Vote{}
}

func parsePolicy(t tb, p *Policy, words []string) {
	t.Helper()
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		d, _ := time.ParseDuration(value)
		n, _ := strconv.Atoi(value)
		switch key {
		case "auto":
			p.AutoRecover = true
		case "retries":
			p.MaxRetries = n
		case "rounds":
			p.MaxRounds = n
		case "step":
			p.Timeouts.Step = failure.InMillis(d)
		case "turn":
			p.Timeouts.MaxTurn = failure.InMillis(d)
		case "run":
			p.Timeouts.Run = failure.InMillis(d)
		case "progress":
			p.Timeouts.ProgressAfter = failure.InMillis(d)
		case "ttl":
			p.SuggestionTTL = failure.InMillis(d)
		case "tokens":
			p.Budget.Tokens = int64(n)
		case "plugins":
			p.Plugins = strings.Split(value, ",")
		case "toolerror":
			p.ToolError = strings.Split(value, ",")
		case "models":
			p.Models = strings.Split(value, ",")
		case "local":
			p.Local = strings.Split(value, ",")
		case "prices":
			p.Prices = map[string]Price{}
			for _, priced := range strings.Split(value, ",") {
				model, price, _ := strings.Cut(priced, ":")
				dear, _ := strconv.ParseInt(price, 10, 64)
				p.Prices[model] = Price{Input: dear, Output: dear}
			}
		case "caller":
			p.Tools, p.Delivery = ToolsOfCaller, Delivery(value)
		case "keep":
			p.Keep = Keeping(value)
		default:
			t.Fatalf("policy: what is %q?", word)
		}
	}
}

func parseOutcome(t tb, n int, words []string) outcome {
	t.Helper()
	o := outcome{took: time.Second, usage: llm.Usage{InputTokens: 10, OutputTokens: 5}}
	switch words[0] {
	case "answer", "cut":
		o.text, o.cut = strings.Join(words[1:], " "), words[0] == "cut"
	case "call":
		for i, name := range strings.Split(words[1], ",") {
			o.calls = append(o.calls, llm.ToolCall{ID: fmt.Sprintf("c%d.%d", n+1, i+1), Name: name, Args: json.RawMessage(`{}`)})
		}
	case "hang":
		o.took = forever
	case "fail":
		o.fail, o.usage = failure.NewFailure(failure.Kind(words[1]), failure.OriginModel, failure.PhaseMidStream, nil), llm.Usage{}
		for _, word := range words[2:] {
			key, value, _ := strings.Cut(word, "=")
			d, _ := time.ParseDuration(value)
			switch key {
			case "after":
				o.fail.RetryAfter = failure.InMillis(d)
			case "reset":
				o.fail.ResetsAt = begin.Add(d)
			case "timer":
				o.fail.Timer, o.fail.Limit = failure.Timer(value), 120_000
			case "offline":
				o.offline = d
			case "shown":
				o.shown = Shown(value)
			case "continuable":
				o.continuable = true
			}
		}
	default:
		t.Fatalf("model: what is %q?", words[0])
	}
	return o
}

func parseOpinion(t tb, words []string) opinion {
	t.Helper()
	o := opinion{plugin: words[0], kind: words[1], vote: Vote{Action: Action(strings.TrimPrefix(words[2], "none")), Reason: "the story says so"}}
	for _, word := range words[3:] {
		if o.vote.forbids(word) {
			continue
		}
		if d, err := time.ParseDuration(word); err == nil {
			o.vote.Delay = failure.InMillis(d)
		} else if n, found := strings.CutPrefix(word, "below="); found {
			o.below, _ = strconv.Atoi(n)
		} else if kind, found := strings.CutPrefix(word, "button="); found {
			o.vote.Actions = append(o.vote.Actions, Button{Kind: kind, Label: "Do " + kind})
		} else if kind, found := strings.CutPrefix(word, "pressed="); found {
			o.pressed = kind
		} else if word == "compact" {
			o.vote.Adjust.Compact = true
		} else if word == "continue" {
			o.vote.Adjust.Continue = true
		} else {
			o.vote.NewModel = word
		}
	}
	return o
}

// forbids adds what a word forbids, and is false where it is another word.
func (v *Vote) forbids(word string) bool {
	var x Restrict
	if v.Restrict != nil {
		x = *v.Restrict
	}
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "never":
		x.Never = strings.Split(value, ",")
	case "price":
		x.MaxOutputPrice, _ = strconv.ParseInt(value, 10, 64)
	case "local":
		x.Local = true
	default:
		return false
	}
	v.Restrict = &x
	return true
}
