package sim

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/provider/gemini"
	"github.com/mulligan-run/mulligan/provider/openai"
	"github.com/mulligan-run/mulligan/provider/responses"
)

// canary is the key of every provider and must never be shown. It does not look like a key, so only
// knowing it helps.
const canary = "canary.7f3a9c2e51d84b06"

// wires makes the adapter of each wire.
var wires = map[string]func(dial dialer) (llm.Model, error){
	"anthropic": func(dial dialer) (llm.Model, error) {
		return anthropic.New(anthropic.Config{Name: "anthropic", Key: key, BaseURL: "http://127.0.0.1:1", DialContext: dial})
	},
	"openai": func(dial dialer) (llm.Model, error) {
		return openai.New(openai.Config{Name: "openai", Key: key, BaseURL: "http://127.0.0.1:2/v1", DialContext: dial})
	},
	"responses": func(dial dialer) (llm.Model, error) {
		return responses.New(responses.Config{Name: "responses", Key: key, BaseURL: "http://127.0.0.1:3/v1", DialContext: dial})
	},
	"gemini": func(dial dialer) (llm.Model, error) {
		return gemini.New(gemini.Config{Name: "gemini", Key: key, BaseURL: "http://127.0.0.1:4", DialContext: dial})
	},
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func key() (string, error) { return canary, nil }

// catalogues are the catalogue's faults by wire. Those that send megabytes are apart, since they
// take as long as a hundred others.
var catalogues = sync.OnceValue(func() (of struct{ usual, big map[string][]faultlab.Step }) {
	of.usual, of.big = map[string][]faultlab.Step{}, map[string][]faultlab.Step{}
	for _, s := range catalogue.All() {
		if s.Wire == "" {
			continue
		}
		step, err := faultlab.Row(s.Name())
		if err != nil {
			panic("the catalogue: " + err.Error())
		}
		isBig := func(a catalogue.Act) bool { return a.Do == catalogue.Big }
		if slices.ContainsFunc(s.Acts, isBig) {
			of.big[s.Wire] = append(of.big[s.Wire], step)
		} else {
			of.usual[s.Wire] = append(of.usual[s.Wire], step)
		}
	}
	return of
})

var sentences = []string{
	"It is 14 °C and clear.",
	"A light jacket is enough, I would say, unless the wind turns.",
	"Yes.",
	"The order was placed; the confirmation follows by mail within the hour, and the rest is as before.",
}

// maxSteps is longer than any model's script.
const maxSteps = 20

// models draws two to four models, on as many wires.
func (w *world) models() []string {
	names := []string{"anthropic/fable", "openai/atlas", "responses/verse", "gemini/prism", "anthropic/proem", "openai/globe"}
	w.dice.mu.Lock()
	w.dice.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	w.dice.mu.Unlock()
	names = names[:2+w.dice.n(3)]
	for i, full := range names {
		wire, name, _ := strings.Cut(full, "/")
		d := newDice(w.recipe.seed, uint64(diceModels+i)) //nolint:gosec // a few models
		w.lab.Script(name, d.script(wire, w.recipe.steps)...)
	}
	return names
}

// script draws what a model does. The last step repeats for ever.
func (d *dice) script(wire string, most int) []faultlab.Step {
	var steps []faultlab.Step
	for range d.n(pick(d, 8, 8, 8, maxSteps)) {
		steps = append(steps, d.step(wire))
	}
	last := faultlab.Answer(pick(d, sentences...))
	if d.chance(0.25) {
		last = d.fault(wire)
	}
	if most != allSteps && most < len(steps) {
		return append(steps[:most:most], faultlab.Answer("Yes."))
	}
	return append(steps, last)
}

func (d *dice) step(wire string) faultlab.Step {
	switch roll := d.n(100); {
	case roll < 10:
		return faultlab.Answer(pick(d, sentences...))
	case roll < 15:
		return faultlab.SlowAnswer(pick(d, sentences...), d.duration(15*time.Second))
	case roll < 18:
		return faultlab.Thinking(pick(d, sentences...), faultlab.Answer(pick(d, sentences...)))
	case roll < 30:
		return d.toolCalls()
	case roll < 45: // its seal goes back to the same model, and to no other
		return faultlab.Thinking(pick(d, sentences...), d.toolCalls())
	}
	return d.fault(wire)
}

func (d *dice) toolCalls() faultlab.Step {
	var calls []faultlab.Call
	for range 1 + d.n(3) {
		calls = append(calls, faultlab.Call{
			Name: pick(d, "lookup", "lookup", "lookup", "charge", "charge", "charge", "nowhere"),
			Args: pick(d, `{}`, `{"n":1}`, `{"n":1}`, `{"city":"Oslo"}`, `{"ci`),
		})
	}
	return faultlab.ToolCalls(pick(d, "", "Let me look. ", sentences[0]), calls...)
}

// fault draws a fault from the catalogue or a handmade one.
func (d *dice) fault(wire string) faultlab.Step {
	switch roll := d.n(400); {
	case roll == 0:
		return pick(d, catalogues().big[wire]...)
	case roll < 160:
		return pick(d, catalogues().usual[wire]...)
	case roll < 180:
		return d.leak()
	}
	text := pick(d, sentences...)
	text = pick(d, "", text[:len(text)/3], text)
	return pick(d,
		faultlab.RateLimited(-1), faultlab.RateLimited(d.duration(20*time.Second)), faultlab.RateLimited(2*time.Hour),
		faultlab.Unavailable(), faultlab.Unavailable(), faultlab.Overloaded(), faultlab.Overloaded(), faultlab.Unauthorized(),
		faultlab.HTML502(), faultlab.Status(400, nil, ""), faultlab.Status(404, nil, ""), faultlab.Status(413, nil, ""),
		faultlab.Status(500, nil, "{"), faultlab.Status(302, map[string]string{"Location": "/"}, "x"), faultlab.Status(204, nil, ""),
		faultlab.Status(200, map[string]string{"Content-Type": "text/event-stream"}, "\x00\xff garbage"),
		faultlab.Hang(), faultlab.Refuse(), faultlab.Empty200(),
		faultlab.StallAfter(""), faultlab.StallAfter("It "), faultlab.SlowAnswer("a b c d e f g h i j k l", 10*time.Second),
		faultlab.StallAfter(text), faultlab.CutAfter(text), faultlab.CutAfter(text), faultlab.ErrorEventAfter(text),
		faultlab.EndAfter(text), faultlab.Malformed(text))
}

// leak is an error whose text contains the key, a stack trace, or an HTML page.
func (d *dice) leak() faultlab.Step {
	said := pick(d,
		"Incorrect API key provided: "+canary+". You can find your key in the settings.",
		"<html><body><h1>Bad</h1> token "+canary+"</body></html>",
		"panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:7 +0x1d",
		"broken \xff\xfe "+strings.Repeat("long ", 4000))
	body := `{"error":{"type":"api_error","message":` + quoted(said) + `}}`
	return faultlab.Status(pick(d, 400, 401, 403, 500, 503), nil, pick(d, body, body, said))
}
