package faultlab

import (
	"fmt"
	"slices"
	"time"
)

// DemoFault is a failure that people can choose for the demo's provider, to watch what follows.
type DemoFault struct {
	Name   string // "529"
	Title  string // "529 Overloaded"
	Does   string // what the provider does, in a sentence
	Prompt string // a question to watch it with
	steps  []Step
	reply  string // of the other model
}

// What the demo's model answers when people choose how it fails.
const (
	demoQuestion = "What is Mulligan doing right now?"
	demoReply    = "I am a model on your own computer, and I fail when you tell me to. Whatever goes wrong is caught before it reaches you: " +
		"only the call that failed is made again, and nothing that had finished is done twice."
	demoHalf = "I am a model on your own computer, and I fail when you"
)

// DemoFaults are the failures that [Lab.FailAs] knows, in the order in which they are shown.
func DemoFaults() []DemoFault {
	fault := func(name, title, does string, steps ...Step) DemoFault {
		return DemoFault{name, title, does, demoQuestion, append(steps, Answer(demoReply)), demoReply}
	}
	const noCredit = `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits."}}`
	return []DemoFault{
		fault("529", "529 Overloaded", "The provider has no room for the call, twice in a row.", Overloaded(), Overloaded()),
		fault("cut", "Cut in mid-sentence", "The connection breaks while the answer is coming in.", CutAfter(demoHalf)),
		fault("stall", "Stall", "The answer stops coming in, and the connection stays open.", StallAfter(demoHalf)),
		fault("quota", "Out of credit", "The account has nothing left: asking again cannot help.", Status(400, nil, noCredit)),
		fault("429", "429, Retry-After 5 s", "The provider wants to be asked again in five seconds.", RateLimited(5*time.Second)),
		fault("silence", "No answer at all", "The call is taken, and then nothing comes.", Hang()),
		fault("401", "401 Wrong key", "The key is refused.", Unauthorized()),
		fault("html", "A proxy's error page", "HTML comes where an answer belongs, with status 502.", HTML502()),
		{
			"demo", "All at once", "A tool is called; then a cut, a 503 and no capacity. The tool runs once.", DemoPrompt, demoScript(), DemoAnswer,
		},
	}
}

// FailAs makes the next requests for the demo's model fail with the named fault, and later ones
// succeed; "" = all succeed.
func (l *Lab) FailAs(name string) error {
	if name == "" {
		l.playDemo(demoReply, Answer(demoReply))
		return nil
	}
	all := DemoFaults()
	i := slices.IndexFunc(all, func(f DemoFault) bool { return f.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no fault %q", name)
	}
	l.playDemo(all[i].reply, all[i].steps...)
	return nil
}

// playDemo makes the demo's model play steps, and its fallback give the reply.
func (l *Lab) playDemo(reply string, steps ...Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(DemoModel, steps)
	l.set(DemoFallback, []Step{Answer(reply)})
}
