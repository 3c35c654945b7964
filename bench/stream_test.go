package bench

import (
	"net"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
)

// BenchmarkStream measures one streamed call from prompt to text over loopback TCP,
// in turns: through the runner with its log in memory; with bare net/http (the
// baseline); and, to see whose time it is, with our adapter and no runner.
func BenchmarkStream(b *testing.B) {
	url := process(b, roleProvider)
	dial := (&net.Dialer{}).DialContext
	model := adapter(b, url, dial)
	r := runner.New(runner.WithModel("lab/"+steady, adapter(b, url, dial)))
	client := newBare(url, dial)
	var whole, alone, bare spans
	check := func(text string, err error) {
		if err != nil || text != answerText {
			b.Fatalf("got %q, %v", text, err)
		}
	}
	for b.Loop() {
		whole.time(func() { check(r.Run(b.Context(), "hi")) })
		bare.time(func() { check(client.ask(b.Context(), steady, "hi")) })
		alone.time(func() { check(listen(b, model)) })
	}
	whole.report(b, "")
	bare.report(b, base)
	alone.report(b, "adapter-")
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
