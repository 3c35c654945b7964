package faults

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/provider/gemini"
	"github.com/mulligan-run/mulligan/provider/openai"
	"github.com/mulligan-run/mulligan/provider/responses"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

const key = "sk-test-0123456789abcdef"

// access is how an adapter reaches its provider.
type access struct {
	base    string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	trip    http.RoundTripper
	proxy   string
	connect time.Duration
	// firstEvent is the runner's timer of that name; 0 = its default.
	firstEvent time.Duration
}

// adapters make the model of a wire, for the entry of that name.
var adapters = map[string]func(name string, a access) (llm.Model, error){
	"anthropic": func(name string, a access) (llm.Model, error) {
		return anthropic.New(anthropic.Config{Name: name, Key: theKey, BaseURL: a.base, DialContext: a.dial, RoundTripper: a.trip, Proxy: a.proxy, ConnectTimeout: a.connect})
	},
	"openai": func(name string, a access) (llm.Model, error) {
		return openai.New(openai.Config{Name: name, Key: theKey, BaseURL: a.base + "/v1", DialContext: a.dial, RoundTripper: a.trip, Proxy: a.proxy, ConnectTimeout: a.connect})
	},
	"responses": func(name string, a access) (llm.Model, error) {
		return responses.New(responses.Config{Name: name, Key: theKey, BaseURL: a.base + "/v1", DialContext: a.dial, RoundTripper: a.trip, Proxy: a.proxy, ConnectTimeout: a.connect})
	},
	"gemini": func(name string, a access) (llm.Model, error) {
		return gemini.New(gemini.Config{Name: name, Key: theKey, BaseURL: a.base, DialContext: a.dial, RoundTripper: a.trip, Proxy: a.proxy, ConnectTimeout: a.connect})
	},
}

func theKey() (string, error) { return key, nil }

// verdict is the outcome of a run.
type verdict struct {
	failure *failure.Failure // nil = an answer
	text    string
}

// inBubble has a lab play steps to a run over a wire, in virtual time.
func inBubble(t *testing.T, wire, entry string, steps ...faultlab.Step) (v verdict) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(arrived)) // bubbles begin in 2000
		lab := faultlab.New()
		lab.Script("m", steps...)
		network := faultlab.NewMemListener()
		server := lab.Serve(network)
		v = runOnce(t, wire, entry, access{
			base: "http://127.0.0.1:1",
			dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return network.Dial(ctx) },
		})
		_ = lab.Close()
		_ = server.Close()
		time.Sleep(5 * time.Minute) // until everything that still waits has ended
	})
	return v
}

// runOnce runs a prompt without any hook, so that the failure is final.
func runOnce(t *testing.T, wire, entry string, a access) verdict {
	t.Helper()
	model, err := adapters[wire](entry, a)
	if err != nil {
		t.Fatal(err)
	}
	r := runner.New(runner.WithModel(entry+"/m", model), runner.WithTools(runner.Tool{
		Name: "get_weather", Run: func(context.Context, runner.ToolCall) (string, error) { return "14 °C", nil },
	}), runner.WithPolicy(func(p *recovery.Policy) {
		if a.firstEvent > 0 {
			p.Timeouts.FirstEvent = failure.InMillis(a.firstEvent)
		}
	}))
	text, err := r.Run(t.Context(), "How is the weather in Oslo?")
	failed := (*runner.Error)(nil)
	if err != nil && !errors.As(err, &failed) && !errors.Is(err, runner.ErrTruncated) {
		t.Fatalf("the run did not settle with a failure: %v", err)
	}
	if failed == nil {
		return verdict{text: text}
	}
	return verdict{failed.Failure, text}
}
