package bench

import (
	"net"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
)

// turn is how many calls are made in one way before the next way has its turn.
const turn = 16

// calls are the costs of calls of one kind.
type calls struct {
	spans     spans
	cpu       time.Duration // of this process
	allocated uint64        // objects
}

// time makes a turn of calls and measures them.
func (c *calls) time(b *testing.B, call func()) {
	b.Helper()
	before, used := memory(), processorTime(b)
	for range turn {
		c.spans.time(call)
	}
	c.cpu += processorTime(b) - used
	c.allocated += memory().Mallocs - before.Mallocs
}

func (c *calls) report(b *testing.B, prefix string) {
	b.Helper()
	n := float64(len(c.spans))
	c.spans.report(b, prefix)
	b.ReportMetric(float64(c.cpu.Nanoseconds())/1e3/n, prefix+"cpu-us/call")
	b.ReportMetric(float64(c.allocated)/n, prefix+"allocs/call")
}

// BenchmarkStream measures one streamed call from prompt to text over loopback TCP, in turns:
// through the runner with its log in memory; with bare net/http (the baseline); and with our
// adapter alone, to attribute the time. It also reports processor time and allocations, which say
// more on a busy machine.
func BenchmarkStream(b *testing.B) {
	url := process(b, roleProvider)
	dial := (&net.Dialer{}).DialContext
	model := adapter(b, url, dial)
	r := runner.New(runner.WithModel("lab/"+steady, adapter(b, url, dial)))
	client := newBare(url, dial)
	var whole, alone, bare calls
	check := func(text string, err error) { checkAnswer(b, text, err) }
	for b.Loop() {
		whole.time(b, func() { check(r.Run(b.Context(), "hi")) })
		bare.time(b, func() { check(client.ask(b.Context(), steady, "hi")) })
		alone.time(b, func() { check(listen(b, model)) })
	}
	whole.report(b, "")
	bare.report(b, base)
	alone.report(b, "adapter-")
}

// BenchmarkStreamSQLite is the call through the runner with its log on disk, compared with bare
// net/http.
func BenchmarkStreamSQLite(b *testing.B) {
	url := process(b, roleProvider)
	dial := (&net.Dialer{}).DialContext
	r := runner.New(runner.WithModel("lab/"+steady, adapter(b, url, dial)), runner.WithLog(openStore(b)))
	client := newBare(url, dial)
	var whole, bare calls
	for b.Loop() {
		whole.time(b, func() {
			text, err := r.Run(b.Context(), "hi")
			checkAnswer(b, text, err)
		})
		bare.time(b, func() {
			text, err := client.ask(b.Context(), steady, "hi")
			checkAnswer(b, text, err)
		})
	}
	whole.report(b, "")
	bare.report(b, base)
}

func checkAnswer(b *testing.B, text string, err error) {
	b.Helper()
	if err != nil || text != answerText {
		b.Fatalf("got %q, %v", text, err)
	}
}

func listen(b *testing.B, model llm.Model) (string, error) {
	var answer llm.Answer
	request := llm.Request{Model: "lab/" + steady, Messages: []llm.Message{llm.User("hi")}}
	for d, err := range model.Stream(b.Context(), request) {
		if err != nil {
			return "", err
		}
		answer.Add(d)
	}
	return answer.Message("").Text(), nil
}
